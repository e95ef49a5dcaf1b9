'use strict';
(() => {
  // The filter of what differs: nodes without a match are hidden, those with one are unfolded.
  const filters = (box) => {
    const tree = box.closest('.differs'), told = box.parentElement.querySelector('output');
    const nodes = [...tree.querySelectorAll('.node > details')];
    const titles = (e) => {
      let text = '';
      for (let n = e.parentElement.closest('.node'); n; n = n.parentElement.closest('.node')) {
        text += n.querySelector('.title').textContent + '\n';
      }
      return text;
    };
    const leaves = [...tree.querySelectorAll('.leaf')].map((e) => ({ e, text: (titles(e) + e.textContent).toLowerCase() }));
    let before = null; // which nodes were open
    const filter = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !before) before = nodes.map((n) => n.open);
      let shown = 0;
      for (const { e, text } of leaves) {
        e.hidden = !words.every((w) => text.includes(w));
        if (!e.hidden) shown++;
      }
      nodes.forEach((n, i) => {
        const any = n.querySelector('.leaf:not([hidden])') !== null;
        n.parentElement.hidden = words.length > 0 && !any;
        if (words.length) n.open = any;
        else if (before) n.open = before[i];
      });
      if (!words.length) before = null;
      told.textContent = words.length ? `${shown} of ${leaves.length}` : '';
    };
    box.parentElement.hidden = false;
    box.addEventListener('input', filter);
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !box.value) return;
      event.preventDefault();
      box.value = '';
      filter();
    });
  };

  for (const box of document.querySelectorAll('.filter input')) filters(box);
})();
