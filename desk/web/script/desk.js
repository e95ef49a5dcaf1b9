'use strict';
(() => {
  // j and k move the focus along the list, as the arrows do once it is there; / goes to the search.
  const rows = [...document.querySelectorAll('[data-row]:has(a)')];
  const search = document.querySelector('input[type=search]');
  for (const [name, works] of [['list', rows.length > 1], ['search', search]]) {
    document.querySelector(`.keys .${name}-keys`).hidden = !works;
  }
  document.querySelector('.keys').hidden = false;
  const typing = (e) => e.matches('input, select, textarea') || e.isContentEditable;
  document.addEventListener('keydown', (event) => {
    const at = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(at)) return;
    const here = rows.findIndex((row) => row.contains(at));
    const arrow = here >= 0 && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const step = { j: 1, k: -1 }[event.key] || arrow;
    if (step && rows.length) {
      const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + step, 0), rows.length - 1);
      rows[next].querySelector('a').focus();
      event.preventDefault();
    } else if (event.key === '/' && search) {
      search.focus();
      search.select();
      event.preventDefault();
    }
  });

  // Files that are dropped on the form are sent by it.
  const drop = document.querySelector('.drop');
  if (!drop) return;
  const input = drop.querySelector('input[type=file]');
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
    });
  }
  drop.addEventListener('drop', (event) => {
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    drop.requestSubmit();
  });
})();
