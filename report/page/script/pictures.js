'use strict';
(() => {
  // A picture names one of its marks at a time: elements that carry their text.
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
    // The nearest mark in a direction; one that is off the way counts as farther.
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
      start: () => Math.max(0, all.findIndex((e) => e.matches('.first, .at > *'))),
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

  for (const picture of document.querySelectorAll('[data-picture]')) {
    const area = picture.querySelector('.scroll'), line = picture.querySelector('.line');
    const kind = marks(area);
    if (!kind.any) continue;
    line.textContent = 'Point at the picture, or focus it and use the arrow keys.';
    area.tabIndex = 0;
    area.setAttribute('role', 'application');
    area.setAttribute('aria-roledescription', 'picture');
    area.setAttribute('aria-label', area.getAttribute('aria-label') + '. Arrow keys move, the line above names what is there.');
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
