'use strict';
(() => {
  // The pictures of time show one range of ticks, together. The page has them drawn at the whole
  // range; here they are drawn again, from the numbers next to each lane, for the range in view. Places are ticks from
  // the begin of the axis, as fractions.
  const make = (name, parent, attributes = {}) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const a in attributes) e.setAttribute(a, attributes[a]);
    parent.append(e);
    return e;
  };
  const numbers = (text) => (text ? text.split(' ').map(Number) : []);
  const sums = (text) => { let at = 0; return numbers(text).map((d) => (at += d)); };
  const letter = 6.8; // how wide one of a label is
  const limit = (v, least, most) => Math.min(Math.max(v, least), most);
  // The first of some numbers in order that is at least v.
  const search = (list, v) => {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < v) low = middle + 1; else high = middle;
    }
    return low;
  };
  const nice = (least) => {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least) || 1;
  };

  // Names of ticks and state points, as reports have them. A tick may be larger than a number
  // counts exactly.
  const namer = (from, data) => {
    const digits = (number, value) => value.toString(number.hex ? 16 : 10).padStart(Math.min(number.width, 20), '0');
    const follow = (rule, n) => {
      if (!rule || n < BigInt(rule.From) || n > BigInt(rule.To)) return '';
      const value = BigInt(rule.Number.first) + (n - BigInt(rule.From)) * BigInt(rule.Step);
      if (!rule.Large || rule.Cycle === '0') return rule.Before + digits(rule.Number, value) + rule.After;
      const cycle = BigInt(rule.Cycle);
      return rule.Before + digits(rule.Large, BigInt(rule.Large.first) + value / cycle) + rule.Between + digits(rule.Number, value % cycle) + rule.After;
    };
    const number = (at) => from + BigInt(Math.floor(at));
    const both = (at) => {
      const n = number(at), name = follow(data.Ticks, n);
      if (!name) return String(n);
      return name.split(' ').includes(String(n)) ? name : `${name} (${n})`;
    };
    return {
      number,
      both,
      inTick: (at) => { const name = both(at); return /^\p{L}+ /u.test(name) ? name : 'tick ' + name; },
      axis: (n) => follow(data.Ticks, n) || follow(data.States, n),
      longest: [data.Ticks, data.States].reduce((most, rule) => Math.max(most, rule ? follow(rule, BigInt(rule.From)).length : 0, rule ? follow(rule, BigInt(rule.To)).length : 0), 0),
      point: (at) => (data.Points || {})[number(at)] || 'state point ' + number(at),
    };
  };

  // Kinds of lanes. Each draws what is between two places, and has items in order: where they begin and end, and their
  // text.
  const kinds = {
    points: (svg, names) => {
      const at = sums(svg.dataset.at), path = make('path', svg, { class: svg.querySelector('path').getAttribute('class') + ' live' });
      return {
        at, end: (i) => at[i],
        say: (i) => `${svg.dataset.who}: snapshot at ${names.point(at[i])}`,
        draw: (view) => {
          let d = '', last = -9;
          for (let i = search(at, view.from); i < at.length && at[i] <= view.to; i++) {
            const x = view.x(at[i]);
            if (x - last < 1) continue;
            d += `M${x.toFixed(1)} 2v11`;
            last = x;
          }
          path.setAttribute('d', d);
        },
      };
    },

    orders: (svg, names) => {
      const counts = numbers(svg.dataset.counts), offset = Number(svg.dataset.offset), bin = Number(svg.dataset.bin), height = 30;
      const path = make('path', svg, { class: svg.querySelector('path').getAttribute('class') + ' live' });
      const levels = new Map(); // of so many bins together: their sums, and the largest
      const level = (n) => {
        if (!levels.has(n)) {
          const list = [];
          counts.forEach((c, i) => { list[Math.floor(i / n)] = (list[Math.floor(i / n)] || 0) + c; });
          levels.set(n, { list, most: list.reduce((a, b) => Math.max(a, b), 1) });
        }
        return levels.get(n);
      };
      const at = counts.map((_, i) => Math.max(offset + i * bin, 0)), end = (i) => offset + (i + 1) * bin;
      return {
        at, end, wide: true, empty: (i) => !counts[i],
        say: (i) => `${svg.dataset.who}: ${counts[i]} ${counts[i] === 1 ? 'order' : 'orders'} in ticks ${names.both(at[i])} to ${names.both(end(i) - 1)}`,
        draw: (view) => {
          let n = 1;
          while (n * bin * view.scale < 2 && n < counts.length) n *= 2;
          const { list, most } = level(n), wide = n * bin;
          let d = '';
          const first = Math.max(Math.floor((view.from - offset) / wide), 0), last = Math.min(Math.ceil((view.to - offset) / wide), list.length);
          for (let i = first; i < last; i++) {
            if (!list[i]) continue;
            const x = view.near(Math.max(offset + i * wide, 0)), to = view.near(offset + (i + 1) * wide);
            d += `M${x} ${height + 2}V${(height + 2 - Math.max(height * list[i] / most, 1)).toFixed(1)}H${to}V${height + 2}z`;
          }
          path.setAttribute('d', d);
        },
      };
    },

    span: (svg) => {
      const [first, last] = numbers(svg.dataset.at);
      const shape = svg.querySelector('path'), [, y, h] = shape.getAttribute('d').match(/^M\d+ (\d+)h\d+v(\d+)/);
      const path = make('path', svg, { class: shape.getAttribute('class') + ' live' });
      return {
        at: [first], end: () => last + 1, wide: true,
        say: () => svg.dataset.say,
        draw: (view) => {
          const x = Number(view.near(first)), to = Math.max(view.near(last + 1), x + 3);
          path.setAttribute('d', last + 1 < view.from || first > view.to ? '' : `M${x} ${y}H${to}v${h}H${x}z`);
        },
      };
    },

    events: (svg) => {
      const marks = [...svg.querySelectorAll('[data-say]')], at = marks.map((m) => Number(m.dataset.at));
      const shapes = marks.map((m) => m.firstElementChild.getAttribute('d').slice(4)), y = marks.length && marks[0].getAttribute('y');
      const path = make('path', svg, { class: 'mark live' });
      return {
        at, end: (i) => at[i],
        say: (i) => marks[i].dataset.say,
        draw: (view) => {
          let d = '';
          for (let i = search(at, view.from); i < at.length && at[i] <= view.to; i++) d += `M${view.x(at[i]).toFixed(1)} ${y}${shapes[i]}`;
          path.setAttribute('d', d);
        },
      };
    },

    heat: (svg, names) => {
      const at = sums(svg.closest('[data-points]').dataset.points), cells = svg.dataset.cells;
      const layers = ['equal between', 'differs between', 'equal', 'differs', 'lost'];
      const paths = layers.map((name) => make('path', svg, { class: name + ' live' }));
      const kind = (i) => (cells[i] === '1' ? 1 : cells[i] === '0' ? 0 : 2);
      const bar = (x, to) => `M${x.toFixed(1)} 1H${to.toFixed(1)}v18H${x.toFixed(1)}z`;
      const dash = (x, to) => `M${x.toFixed(1)} 10H${to.toFixed(1)}`;
      // Where there are more state points than pixels, a pixel shows points that differ before points that are not
      // known, and these before points that are equal.
      const dense = (view, first, last) => {
        const d = ['', '', '', '', ''];
        let from = null, to = 0, best = 0;
        const flush = () => { if (from !== null) d[[2, 3, 4][best]] += best === 2 ? dash(from, to) : bar(from, to); };
        const rank = [0, 2, 1];
        for (let i = first; i < last;) {
          const x = Math.floor(view.x(at[i]));
          let what = kind(i);
          for (i++; i < last && Math.floor(view.x(at[i])) === x; i++) if (rank[kind(i)] > rank[what]) what = kind(i);
          if (from !== null && what === best && x - to < 1) {
            to = x + 1;
            continue;
          }
          flush();
          [from, to, best] = [x, x + 1, what];
        }
        flush();
        return d;
      };
      // A cell has the room of its tick, and enough to be seen where the next one leaves it.
      const sparse = (view, first, last) => {
        const d = ['', '', '', '', ''];
        const end = (i) => {
          const least = Math.max(view.x(at[i]) + 8, view.x(at[i] + 1)), next = i + 1 < at.length ? view.x(at[i + 1]) : Infinity;
          return next - least < 8 ? next : least;
        };
        const edge = (x) => limit(x, 0, view.edge);
        for (let i = first; i < last;) {
          const x = edge(view.x(at[i])), what = kind(i);
          while (i + 1 < last && kind(i + 1) === what && end(i) >= view.x(at[i + 1])) i++;
          const to = edge(end(i));
          if (to > x) d[what + 2] += what === 2 ? dash(x, to) : bar(x, to);
          if (what < 2 && i + 1 < at.length && kind(i + 1) === what) {
            const next = edge(view.x(at[i + 1]));
            if (next > to) d[what] += bar(to, next);
          }
          i++;
        }
        return d;
      };
      return {
        at, wide: true,
        end: (i) => (i + 1 < at.length ? Math.min(at[i + 1], at[i] + 1) : at[i] + 1),
        same: (i, j) => cells[i] === cells[j],
        say: (i) => `${svg.dataset.who} at ${names.point(at[i])}: ${['equal', 'differs', 'not known'][kind(i)]}`.replace(' at after ', ' after '),
        draw: (view) => {
          const first = Math.max(search(at, view.from) - 1, 0), last = Math.min(search(at, view.to) + 1, at.length);
          const d = last - first > view.width / 1.5 ? dense(view, first, last) : sparse(view, first, last);
          paths.forEach((p, i) => p.setAttribute('d', d[i]));
        },
      };
    },
  };

  const time = (picture) => {
    const line = picture.querySelector('.line'), tools = picture.querySelector('.tools'), area = picture.querySelector('.area');
    const grids = area.querySelector('.grids'), lines = area.querySelector('.lines'), ruler = picture.querySelector('.ruler .plot');
    const from = BigInt(picture.dataset.from), total = Number(BigInt(picture.dataset.to) - from) + 1, least = Math.min(total, 4);
    const names = namer(from, JSON.parse(picture.dataset.names));
    const still = matchMedia('(prefers-reduced-motion: reduce)');
    const hint = matchMedia('(pointer: coarse)').matches ? 'Touch a mark. Two fingers zoom, one moves.'
      : 'Point at a mark, or use the arrow keys. Ctrl and the wheel zoom, dragging moves, dragging with Shift chooses ticks.';

    const lanes = [...area.querySelectorAll('[data-lane]')].map((svg) => ({ svg, row: svg.closest('.lane'), ...kinds[svg.dataset.lane](svg, names) }));
    const view = {
      from: 0, to: total, width: 1,
      get scale() { return this.width / (this.to - this.from); },
      x(at) { return (at - this.from) * this.scale; },
      at(x) { return this.from + x / this.scale; },
      // After the last tick there is room for the marks that begin with it.
      get edge() { return this.width + (this.to >= total ? 8 : 0); },
      near(at) { return limit(this.x(at), 0, this.edge).toFixed(1); },
    };

    // The marks over all lanes.
    const bracket = grids.querySelector('.bracket'), band = bracket && make('rect', grids, { class: 'bracket live', y: 0, height: '100%' });
    const grid = make('g', grids, { class: 'live' }), labels = make('g', ruler, { class: 'live' });
    const chosen = make('rect', grids, { class: 'chosen live', y: 0, height: '100%', width: 0 });
    const cursors = [lines, ruler].map((svg) => make('line', svg, { class: 'cursor live', y1: 0, y2: '100%', visibility: 'hidden' }));
    const flags = [...ruler.querySelectorAll('[data-flag]')].map((e) => ({
      at: Number(e.dataset.at), full: e.dataset.full, short: e.textContent, text: make('text', ruler, { class: 'live flag ' + e.dataset.flag, y: e.getAttribute('y') }),
      lines: [lines, ruler].map((svg) => make('line', svg, { class: 'live flag ' + e.dataset.flag, y1: svg === ruler ? e.getAttribute('y') : 0, y2: '100%' })),
    }));
    const here = make('rect', area.querySelector('[data-lane]') || lines, { class: 'here live', y: 0.5, rx: 2, visibility: 'hidden' });

    // The whole session, with the window that the pictures show.
    const row = document.createElement('div');
    row.className = 'lane whole-session';
    row.append(Object.assign(document.createElement('div'), { className: 'label part', textContent: 'session' }));
    const overview = make('svg', row, { class: 'overview', width: '100%', height: 12, 'aria-hidden': 'true' });
    make('rect', overview, { class: 'whole-range', width: '100%', height: 12, rx: 3 });
    for (const f of flags) {
      const x = 100 * f.at / total + '%';
      make('line', overview, { class: f.lines[0].getAttribute('class').replace('live ', ''), x1: x, x2: x, y1: 0, y2: 12 });
    }
    const pane = make('rect', overview, { class: 'window', height: 12, rx: 3 });
    ruler.closest('.lane').before(row);

    let cursor = null; // { lane, item } or { at }
    let choice = null; // [first, last] tick
    let wanted = 0, moving = 0, resting = 0;

    const room = Math.max(String(names.number(total - 1)).length, names.longest) * letter + 26;
    const ordinalY = ruler.querySelector('.tick')?.getAttribute('y') || 20, nativeY = ruler.querySelector('.native')?.getAttribute('y');
    const pool = [];
    const drawAxis = () => {
      const step = nice((view.to - view.from) * room / view.width), wide = BigInt(step);
      const first = (names.number(Math.ceil(view.from)) + wide - 1n) / wide * wide;
      let used = 0;
      for (let n = first; ; n += wide, used++) {
        const at = Number(n - from);
        if (at > view.to || at >= total || used > 200) break;
        const x = view.x(at);
        if (!pool[used]) pool.push({ line: make('line', grid, { class: 'grid', y1: 0, y2: '100%' }), ordinal: make('text', labels, { class: 'tick', y: ordinalY, 'text-anchor': 'middle' }), native: make('text', labels, { class: 'tick native', y: nativeY || 0, 'text-anchor': 'middle' }) });
        const p = pool[used];
        p.line.setAttribute('x1', x);
        p.line.setAttribute('x2', x);
        for (const [text, value] of [[p.ordinal, String(n)], [p.native, nativeY ? names.axis(n) : '']]) {
          // A label at an edge moves inwards as far as the next one leaves room.
          const half = value.length * letter / 2, inside = limit(x, half, Math.max(view.width - half, half));
          text.setAttribute('x', inside);
          text.textContent = Math.abs(inside - x) < 20 ? value : '';
        }
      }
      pool.forEach((p, i) => { for (const e of Object.values(p)) e.setAttribute('display', i < used ? 'inline' : 'none'); });
    };

    const drawFlags = () => {
      for (const f of flags) {
        const x = view.x(f.at), inside = x >= -0.5 && x <= view.width + 0.5;
        for (const l of f.lines) {
          l.setAttribute('x1', x);
          l.setAttribute('x2', x);
          l.setAttribute('visibility', inside ? 'inherit' : 'hidden');
        }
        const right = inside ? x < view.width / 2 : x < 0;
        const fits = inside && f.full.length * 7.2 < (right ? view.width - x : x);
        f.text.textContent = inside ? (fits ? f.full : f.short) : right ? '◂ ' + f.short : f.short + ' ▸';
        f.text.setAttribute('x', inside ? x + (right ? 5 : -5) : right ? 0 : view.width);
        f.text.setAttribute('text-anchor', right ? 'start' : 'end');
      }
      if (band) {
        const a = limit(view.x(Number(bracket.dataset.at)), 0, view.width), b = limit(view.x(Number(bracket.dataset.end)), 0, view.width);
        const inside = Number(bracket.dataset.end) >= view.from && Number(bracket.dataset.at) <= view.to;
        band.setAttribute('x', a);
        band.setAttribute('width', inside ? Math.max(b - a, 1.5) : 0);
      }
    };

    const drawCursor = () => {
      const at = cursor === null ? null : cursor.lane ? (cursor.at ?? cursor.lane.at[cursor.item]) : cursor.at;
      const x = at === null ? 0 : view.x(at), seen = at !== null && x >= -0.5 && x <= view.width + 0.5;
      for (const c of cursors) {
        c.setAttribute('x1', x);
        c.setAttribute('x2', x);
        c.setAttribute('visibility', seen ? 'inherit' : 'hidden');
      }
      const marked = cursor?.lane && seen;
      if (marked) {
        const { lane, item } = cursor, begin = Number(view.near(lane.at[item])), width = view.near(lane.end(item)) - begin;
        const wide = Math.max(width, 8), height = Number(lane.svg.getAttribute('height'));
        if (here.parentNode !== lane.svg) lane.svg.append(here);
        here.setAttribute('x', lane.wide && lane.svg.dataset.lane !== 'orders' ? begin : begin - (wide - width) / 2);
        here.setAttribute('width', wide);
        here.setAttribute('height', height - 1);
      }
      here.setAttribute('visibility', marked ? 'inherit' : 'hidden');
      const [a, b] = choice ? [limit(view.x(choice[0]), 0, view.width), limit(view.x(choice[1] + 1), 0, view.width)] : [0, 0];
      chosen.setAttribute('x', a);
      chosen.setAttribute('width', b - a);
    };

    // Lanes outside the window wait until the view stops moving.
    const drawLanes = (which) => {
      for (const lane of lanes) {
        if (!lane.late || !which(lane)) continue;
        lane.draw(view);
        lane.late = false;
      }
    };
    const rest = () => {
      drawLanes(() => true);
      picture.classList.remove('drawing');
    };
    const draw = () => {
      wanted = 0;
      for (const lane of lanes) lane.late = true;
      drawLanes((lane) => lane.seen);
      clearTimeout(resting);
      resting = setTimeout(rest, 120);
      picture.classList.add('drawing');
      drawAxis();
      drawFlags();
      drawCursor();
      pane.setAttribute('x', 100 * view.from / total + '%');
      pane.setAttribute('width', 100 * (view.to - view.from) / total + '%');
    };
    const redraw = () => { wanted ||= requestAnimationFrame(draw); };

    // Looking elsewhere.
    const set = (begin, end) => {
      const span = limit(end - begin, least, total);
      view.from = limit((begin + end - span) / 2, 0, total - span);
      view.to = view.from + span;
      redraw();
    };
    const move = (begin, end) => {
      cancelAnimationFrame(moving);
      if (still.matches) { set(begin, end); return; }
      const a = [view.from, view.to], start = performance.now();
      const step = (now) => {
        const t = limit((now - start) / 160, 0, 1), eased = t * (2 - t);
        set(a[0] + (begin - a[0]) * eased, a[1] + (end - a[1]) * eased);
        if (t < 1) moving = requestAnimationFrame(step);
      };
      moving = requestAnimationFrame(step);
    };
    const zoomed = (factor, at = null) => {
      const fix = at ?? limit(focus(), view.from, view.to), span = limit((view.to - view.from) / factor, least, total);
      const begin = fix - (fix - view.from) * span / (view.to - view.from), kept = limit(begin, 0, total - span);
      return [kept, kept + span];
    };
    const focus = () => {
      const at = cursor && (cursor.at ?? cursor.lane.at[cursor.item]);
      return at !== null && at >= view.from && at <= view.to ? at : (view.from + view.to) / 2;
    };
    const shifted = (part) => {
      const by = limit((view.to - view.from) * part, -view.from, total - view.to);
      return [view.from + by, view.to + by];
    };
    const split = () => {
      const parted = flags.find((f) => f.text.classList.contains('parted')) || flags[0];
      const a = bracket ? Number(bracket.dataset.at) : parted.at, b = bracket ? Number(bracket.dataset.end) : parted.at + 1;
      const middle = parted ? parted.at + 0.5 : (a + b) / 2, wish = Math.max(12, 2 * Math.max(middle - a, b - middle));
      const half = Math.max(Math.min(wish, middle, total - middle), least / 2);
      move(middle - half, middle + half);
      tell({ at: Math.floor(middle) });
    };

    // The text that is shown.
    const tell = (to) => {
      cursor = to;
      let text = hint;
      if (cursor?.lane) {
        const { lane, item } = cursor;
        text = lane.say(item);
        if (cursor.at !== undefined && Math.floor(cursor.at) !== lane.at[item]) text = `${names.inTick(cursor.at)} · ${text}`;
      } else if (cursor) {
        text = names.inTick(cursor.at);
      } else if (choice) {
        const n = choice[1] - choice[0] + 1;
        text = `${n} ${n === 1 ? 'tick is' : 'ticks are'} chosen, ${names.both(choice[0])} to ${names.both(choice[1])}. Enter shows them, Escape lets them go.`;
      }
      line.textContent = text;
      line.classList.toggle('told', Boolean(cursor || choice));
      tools.querySelector('[data-do=chosen]').hidden = !choice;
      redraw();
    };
    const atTick = () => cursor && Math.floor(cursor.at ?? cursor.lane.at[cursor.item]);
    // The address keeps a chosen tick, not each that the pointer passes.
    const kept = () => picture.dispatchEvent(new CustomEvent('chosen', { detail: cursor ? String(names.number(atTick())) : '' }));
    picture.addEventListener('restore', ({ detail }) => {
      const at = /^\d{1,20}$/.test(detail) ? Number(BigInt(detail) - from) : -1, half = (view.to - view.from) / 2;
      if (at === atTick()) return;
      const known = at >= 0 && at < total;
      if (known && (at < view.from || at >= view.to)) set(at - half, at + half);
      tell(known ? { at } : null);
    });
    const go = {
      in: () => move(...zoomed(2)), out: () => move(...zoomed(0.5)), whole: () => move(0, total), split: () => { if (flags.length || bracket) split(); },
      left: () => move(...shifted(-0.25)), right: () => move(...shifted(0.25)),
      chosen: () => { if (choice) move(choice[0] - 0.02 * (choice[1] - choice[0]), choice[1] + 1 + 0.02 * (choice[1] - choice[0])); },
      clear: () => { choice = null; tell(null); kept(); },
    };
    tools.addEventListener('click', (event) => {
      const button = event.target.closest('[data-do]');
      if (button) go[button.dataset.do]();
    });

    // What is under a place of the screen.
    const place = (event) => event.clientX - grids.getBoundingClientRect().left;
    const under = (event) => {
      const x = place(event), at = limit(view.at(x), 0, total - 1e-9);
      const row = event.target.closest('.lane'), lane = row && lanes.find((l) => l.row === row);
      if (x < -12 || x > view.width + 12) return null;
      if (!lane || !lane.at.length) return { at };
      const i = search(lane.at, at), reach = 7 / view.scale;
      let item = -1;
      if (i < lane.at.length && lane.at[i] - at <= (lane.wide ? 0 : reach)) item = i;
      if (i > 0 && (lane.svg.dataset.lane === 'heat' || (lane.wide ? at < lane.end(i - 1) : at - lane.at[i - 1] <= reach && !(item === i && lane.at[i] - at < at - lane.at[i - 1])))) item = i - 1;
      if (item < 0 || lane.empty?.(item)) return { at };
      return lane.wide ? { lane, item, at } : { lane, item };
    };

    // Pointers: one moves, two pinch; with Shift, or on the ruler, one chooses.
    const down = new Map();
    let held = null;
    const begin = (event) => {
      if (event.button || event.target.closest('summary, .about, .legend, .rest, ul, .whole-session')) return;
      down.set(event.pointerId, event.clientX);
      const chooses = down.size === 1 && (event.shiftKey || ruler.closest('.lane').contains(event.target));
      held = { chooses, start: view.at(place(event)), x: event.clientX, far: false, view: [view.from, view.to] };
      if (chooses) area.focus({ preventScroll: true });
    };
    const drag = (event) => {
      if (!down.has(event.pointerId)) {
        if (event.pointerType !== 'touch') tell(under(event) || (choice ? null : cursor));
        return;
      }
      const before = down.get(event.pointerId);
      down.set(event.pointerId, event.clientX);
      if (down.size === 2) {
        const other = [...down].find(([id]) => id !== event.pointerId)[1];
        const was = Math.max(Math.abs(before - other), 10), is = Math.max(Math.abs(event.clientX - other), 10);
        const middle = view.at((event.clientX + other) / 2 - grids.getBoundingClientRect().left);
        set(...zoomed(is / was, middle));
        held.far = true;
        return;
      }
      if (!held.far && Math.abs(event.clientX - held.x) < 4) return;
      if (!held.far) {
        held.far = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        picture.classList.toggle('panning', !held.chooses);
      }
      if (held.chooses) {
        const at = [held.start, view.at(place(event))].map((v) => limit(Math.floor(v), 0, total - 1)).sort((a, b) => a - b);
        choice = at;
        tell(null);
        return;
      }
      const by = limit((before - event.clientX) / view.scale, -view.from, total - view.to);
      set(view.from + by, view.to + by);
    };
    const end = (event) => {
      if (!down.delete(event.pointerId)) return;
      picture.classList.remove('panning');
      if (event.type === 'pointerup' && held && !held.far) {
        const to = under(event);
        if (to) { tell(to); kept(); }
      }
      if (!down.size) held = null;
    };
    const wheel = (event) => {
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode ? 400 : 1;
      if (event.ctrlKey || event.metaKey) {
        cancelAnimationFrame(moving);
        set(...zoomed(2 ** limit(-event.deltaY * unit * 0.008, -0.6, 0.6), limit(view.at(place(event)), 0, total)));
      } else {
        const by = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
        if (!by || Math.abs(by) < Math.abs(event.deltaY) && !event.shiftKey || view.to - view.from >= total) return;
        cancelAnimationFrame(moving);
        set(...shifted(by * unit / view.width));
      }
      event.preventDefault();
    };
    for (const e of [area, ruler.closest('.lane')]) {
      e.addEventListener('pointerdown', begin);
      e.addEventListener('pointermove', drag);
      e.addEventListener('pointerup', end);
      e.addEventListener('pointercancel', end);
      e.addEventListener('wheel', wheel, { passive: false });
    }
    area.addEventListener('dblclick', (event) => {
      if (!event.target.closest('summary, .label, .about')) move(...zoomed(4, limit(view.at(place(event)), 0, total)));
    });
    // The window over the whole session follows the hand.
    const slide = (event) => {
      if (!(event.buttons & 1)) return;
      const b = overview.getBoundingClientRect(), middle = (event.clientX - b.left) / b.width * total, half = (view.to - view.from) / 2;
      const by = limit(middle - half, 0, total - 2 * half);
      set(by, by + 2 * half);
    };
    overview.addEventListener('pointerdown', (event) => { overview.setPointerCapture(event.pointerId); slide(event); });
    overview.addEventListener('pointermove', slide);

    // Keys: arrows go from mark to mark, with Ctrl to where something changes; letters and signs
    // look elsewhere.
    const step = (lane, item, d, far) => {
      let to = item + d;
      const passed = (i) => lane.empty?.(i) || far && lane.same?.(i, item);
      while (to > 0 && to < lane.at.length - 1 && passed(to)) to += d;
      return limit(to, 0, lane.at.length - 1);
    };
    const named = lanes.filter((l) => l.at.length);
    const arrow = (event) => {
      if (!named.length) return false;
      if (!cursor?.lane) {
        const at = cursor?.at ?? flags[0]?.at ?? view.from;
        const lane = named[0];
        cursor = { lane, item: limit(search(lane.at, at), 0, lane.at.length - 1) };
      } else {
        let { lane, item } = cursor, n = named.indexOf(lane);
        const at = cursor.at ?? lane.at[item];
        switch (event.key) {
          case 'ArrowLeft': item = step(lane, item, -1, event.ctrlKey); break;
          case 'ArrowRight': item = step(lane, item, 1, event.ctrlKey); break;
          case 'Home': item = 0; break;
          case 'End': item = lane.at.length - 1; break;
          default:
            n = { ArrowUp: n - 1, ArrowDown: n + 1, PageUp: 0, PageDown: named.length - 1 }[event.key];
            lane = named[limit(n, 0, named.length - 1)];
            item = limit(search(lane.at, at + 1e-9) - 1, 0, lane.at.length - 1);
        }
        cursor = { lane, item };
      }
      const { lane, item } = cursor, at = lane.at[item], span = view.to - view.from;
      if (at < view.from || at > view.to) set(limit(at - span / 2, 0, total - span), limit(at - span / 2, 0, total - span) + span);
      lane.row.scrollIntoView({ block: 'nearest' });
      tell(cursor);
      kept();
      return true;
    };
    const keys = { '+': go.in, '=': go.in, w: go.in, '-': go.out, _: go.out, s: go.out, a: go.left, d: go.right, 0: go.whole, f: go.split, Enter: go.chosen };
    picture.addEventListener('keydown', (event) => {
      if (event.altKey || event.metaKey || event.target.closest('summary')) return;
      if (event.target.closest('button') && /^(Enter| )$/.test(event.key)) return;
      if (/^(Arrow|Home$|End$|Page)/.test(event.key)) {
        if (event.shiftKey && /Left|Right/.test(event.key)) (event.key === 'ArrowLeft' ? go.left : go.right)();
        else if (!arrow(event)) return;
      } else {
        const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!act || event.ctrlKey) return;
        act();
      }
      event.preventDefault();
    });

    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented && (cursor || choice)) go.clear();
    });

    const measure = () => {
      const width = grids.getBoundingClientRect().width;
      if (width > 0 && width !== view.width) {
        view.width = width;
        draw();
      }
    };
    const watch = new IntersectionObserver((list) => {
      for (const e of list) lanes.find((l) => l.svg === e.target).seen = e.isIntersecting;
      drawLanes((lane) => lane.seen);
    }, { rootMargin: '200px' });
    for (const lane of lanes) watch.observe(lane.svg);
    area.tabIndex = 0;
    area.setAttribute('role', 'application');
    area.setAttribute('aria-roledescription', 'picture');
    area.setAttribute('aria-label', area.getAttribute('aria-label') + '. Arrow keys go from mark to mark, plus and minus zoom, a and d move, f shows the divergence, 0 the whole, Escape ends. The tables below have the same numbers.');
    tools.hidden = false;
    picture.classList.add('alive');
    measure();
    tell(null);
    new ResizeObserver(measure).observe(grids);
  };

  for (const picture of document.querySelectorAll('[data-time]')) time(picture);
})();
