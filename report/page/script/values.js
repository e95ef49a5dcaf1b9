'use strict';
(() => {
  // The filter of what differs: values and lines without a match are hidden, nodes with one are unfolded.
  const filters = (box) => {
    const tree = box.closest('.differs'), told = box.parentElement.querySelector('output');
    const nodes = [...tree.querySelectorAll('.node > details, .all')];
    const titles = (e) => {
      let text = '';
      for (let n = e.parentElement.closest('.node'); n; n = n.parentElement.closest('.node')) {
        text += n.querySelector('.title').textContent + '\n';
      }
      return text;
    };
    const all = [...tree.querySelectorAll('.leaf')].map((e) => {
      const above = titles(e), text = e.textContent;
      return e.matches('.lines') ? { e, text, lines: text.trimEnd().split('\n').map((line) => [line, (above + line).toLowerCase()]) } : { e, low: (above + text).toLowerCase() };
    });
    const columns = all.filter((l) => l.lines), leaves = all.filter((l) => !l.lines);
    const values = columns.reduce((n, l) => n + l.lines.length - 1, 0);
    let before = null; // which nodes were open
    const filter = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean), has = (text) => words.every((w) => text.includes(w));
      if (words.length && !before) before = nodes.map((n) => n.open);
      let shown = 0, found = 0;
      for (const { e, low } of leaves) {
        e.hidden = !has(low);
        if (!e.hidden) shown++;
      }
      for (const { e, text, lines } of columns) {
        const kept = words.length ? lines.filter(([, low], i) => i && has(low)) : [];
        found += kept.length;
        e.hidden = words.length > 0 && !kept.length;
        e.textContent = words.length ? [lines[0], ...kept].map(([line]) => line).join('\n') + '\n' : text;
      }
      nodes.forEach((n, i) => {
        const any = n.querySelector('.leaf:not([hidden])') !== null;
        (n.matches('.all') ? n : n.parentElement).hidden = words.length > 0 && !any;
        if (words.length) n.open = any;
        else if (before) n.open = before[i];
      });
      if (!words.length) before = null;
      told.textContent = words.length ? `${shown} of ${leaves.length}` + (values ? `, by column ${found} of ${values}` : '') : '';
    };
    box.parentElement.hidden = false;
    box.addEventListener('input', filter);
    box.addEventListener('restore', ({ detail }) => {
      if (box.value === detail) return;
      box.value = detail;
      filter();
    });
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !box.value) return;
      event.preventDefault();
      box.value = '';
      box.dispatchEvent(new Event('input'));
    });
  };

  for (const box of document.querySelectorAll('.filter input')) filters(box);
})();
