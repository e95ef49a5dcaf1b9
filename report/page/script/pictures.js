'use strict';
(() => {
  // A picture tells about one of its marks at a time. Both kinds have the same three answers:
  // where the pointer is, where a key leads, and what is to be told.

  // Marks are elements that carry what they tell.
  const marks = (area) => {
    const all = [...area.querySelectorAll('[data-tip]')];
    let boxes = null;
    const measured = () => {
      if (!boxes) {
        const origin = area.getBoundingClientRect();
        boxes = all.map((e) => {
          const b = e.getBoundingClientRect();
          const x = b.left - origin.left + area.scrollLeft, y = b.top - origin.top;
          return { left: x, right: x + b.width, top: y, bottom: y + b.height, x: x + b.width / 2, y: y + b.height / 2 };
        });
      }
      return boxes;
    };
    new ResizeObserver(() => { boxes = null; }).observe(area);
    const gap = (a0, a1, b0, b1) => Math.max(0, a0 - b1, b0 - a1);
    // The nearest mark in a direction; one that is beside the way counts as farther.
    const towards = (from, dx, dy) => {
      const list = measured(), a = list[from];
      let best = from, least = Infinity;
      list.forEach((b, i) => {
        const along = (b.x - a.x) * dx + (b.y - a.y) * dy;
        if (i === from || along < 0.5) return;
        const beside = dx ? gap(a.top, a.bottom, b.top, b.bottom) : gap(a.left, a.right, b.left, b.right);
        const off = dx ? Math.abs(b.y - a.y) : Math.abs(b.x - a.x);
        const cost = along + 3 * beside + off / 100;
        if (cost < least) [best, least] = [i, cost];
      });
      return best;
    };
    let here = null;
    return {
      start: () => Math.max(0, all.findIndex((e) => e.matches('.first, .parted, .at > *'))),
      under: (event) => {
        const at = all.indexOf(event.target.closest('[data-tip]'));
        if (at >= 0) return at;
        const origin = area.getBoundingClientRect();
        const x = event.clientX - origin.left + area.scrollLeft, y = event.clientY - origin.top;
        let best = null, least = 12;
        measured().forEach((b, i) => {
          const d = Math.hypot(gap(b.left, b.right, x, x), gap(b.top, b.bottom, y, y));
          if (d < least) [best, least] = [i, d];
        });
        return best;
      },
      key: (at, key) => {
        switch (key) {
          case 'ArrowLeft': return towards(at, -1, 0);
          case 'ArrowRight': return towards(at, 1, 0);
          case 'ArrowUp': return towards(at, 0, -1);
          case 'ArrowDown': return towards(at, 0, 1);
          case 'PageUp': return Math.max(at - 1, 0);
          case 'PageDown': return Math.min(at + 1, all.length - 1);
          case 'Home': return 0;
          case 'End': return all.length - 1;
        }
        return null;
      },
      show: (at, follow) => {
        if (here) here.classList.remove('here');
        here = all[at];
        here.classList.add('here');
        if (follow) here.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        return here.dataset.tip;
      },
      any: all.length > 0,
    };
  };

  // A grid has rows of one digit a cell.
  const grid = (area, points) => {
    const cells = area.querySelector('.cells'), cursor = area.querySelector('.cursor');
    const rows = [...cells.querySelectorAll('[data-cells]')];
    const n = points.length, limit = (v, most) => Math.min(Math.max(v, 0), most - 1);
    return {
      start: () => ({ row: 0, column: 0 }),
      under: (event) => {
        const b = cells.getBoundingClientRect();
        const row = Math.floor((event.clientY - b.top) / b.height * rows.length);
        const column = Math.floor((event.clientX - b.left) / b.width * n);
        return row < 0 || row >= rows.length || column < 0 || column >= n ? null : { row, column };
      },
      key: ({ row, column }, key, far) => {
        // With Ctrl to where the row changes next.
        const step = (d) => {
          const line = rows[row].dataset.cells;
          let to = limit(column + d, n);
          while (far && to + d >= 0 && to + d < n && line[to] === line[column]) to += d;
          return to;
        };
        switch (key) {
          case 'ArrowLeft': return { row, column: step(-1) };
          case 'ArrowRight': return { row, column: step(1) };
          case 'ArrowUp': return { row: limit(row - 1, rows.length), column };
          case 'ArrowDown': return { row: limit(row + 1, rows.length), column };
          case 'PageUp': return { row: 0, column };
          case 'PageDown': return { row: rows.length - 1, column };
          case 'Home': return { row, column: 0 };
          case 'End': return { row, column: n - 1 };
        }
        return null;
      },
      show: ({ row, column }, follow) => {
        const place = { x: column, y: row, width: 1, height: 1 };
        for (const name in place) cursor.setAttribute(name, place[name]);
        if (follow) cursor.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        const what = { 0: 'equal', 1: 'differs' }[rows[row].dataset.cells[column]] || 'not known';
        return `${rows[row].dataset.name} at state point ${points[column]}: ${what}`;
      },
      any: rows.length > 0,
    };
  };

  for (const picture of document.querySelectorAll('[data-picture]')) {
    const area = picture.querySelector('.scroll'), line = picture.querySelector('.line');
    const kind = picture.dataset.picture === 'grid' ? grid(area, picture.dataset.points.split(' ')) : marks(area);
    if (!kind.any) continue;
    // Where not all of it fits, what counts comes first.
    const parted = area.querySelector('line.parted, .cells .parted');
    if (parted && area.scrollWidth > area.clientWidth) {
      area.scrollLeft += parted.getBoundingClientRect().left - area.getBoundingClientRect().left - area.clientWidth * 0.7;
    }
    let at = null;
    const tell = (to, follow) => {
      at = to;
      line.textContent = kind.show(at, follow);
      line.classList.add('told');
    };
    const pointed = (event) => {
      const to = kind.under(event);
      if (to !== null) tell(to, false);
    };
    area.addEventListener('pointermove', pointed);
    area.addEventListener('click', pointed);
    area.addEventListener('focus', () => {
      if (at === null && area.matches(':focus-visible')) tell(kind.start(), false);
    });
    area.addEventListener('keydown', (event) => {
      if (event.altKey || event.metaKey) return;
      const to = at === null ? kind.start() : kind.key(at, event.key, event.ctrlKey);
      if (to === null || kind.key(to, event.key) === null) return;
      event.preventDefault();
      tell(to, true);
    });
  }
})();
