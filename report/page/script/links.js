'use strict';
(() => {
  // A link to what lies in something folded unfolds it.
  const reveal = () => {
    const to = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!to) return;
    for (let d = to.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    const inside = to.matches('.node') && to.querySelector(':scope > details');
    if (inside) inside.open = true;
    to.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  reveal();

  // Escape folds what the focus is in.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const open = document.activeElement.closest('details[open]:not(.match)');
    if (!open) return;
    open.open = false;
    open.querySelector('summary').focus();
  });
})();
