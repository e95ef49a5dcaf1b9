'use strict';
(() => {
  // The selection is kept in the address, so that a link opens it again: the node that was unfolded last (at), the text
  // of a filter, the tick of a picture of time, the latter two by the id of their element. #id alone is a place. What an
  // address has is only compared: with ids, with the texts of values, with the range of ticks.
  const kept = [...document.querySelectorAll('.filter input, [data-time]')];
  const asked = () => {
    const text = location.hash.slice(1);
    return new URLSearchParams(text.includes('=') ? text : text && 'at=' + text);
  };
  const keep = (key, value, replaces) => {
    const to = asked(), before = to.get(key) || '';
    if (before === value) return;
    if (value) to.set(key, value); else to.delete(key);
    history[replaces && before && value ? 'replaceState' : 'pushState'](null, '', '#' + to);
  };
  const restore = () => {
    const from = asked(), id = from.get('at');
    for (const e of kept) e.dispatchEvent(new CustomEvent('restore', { detail: from.get(e.id) || '' }));
    const to = id ? document.getElementById(id) : kept.find((e) => from.get(e.id));
    if (!to) return;
    // A link to what lies in something folded unfolds it.
    for (let d = to.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    const inside = to.matches('.node') && to.querySelector(':scope > details');
    if (inside) inside.open = true;
    to.scrollIntoView();
  };
  addEventListener('hashchange', restore);
  restore();
  for (const e of kept) {
    // A text is one step back, however many letters it has, and so is a tick.
    e.addEventListener('input', () => keep(e.id, e.value, true));
    e.addEventListener('chosen', (event) => keep(e.id, event.detail, true));
  }
  document.addEventListener('click', (event) => {
    const details = event.target.closest('summary')?.parentElement, node = details?.parentElement;
    if (!node?.matches('.node[id]')) return;
    if (!details.open) keep('at', node.id, false); // it is unfolded after this
    else if (asked().get('at') === node.id) keep('at', '', false);
  });

  // Escape folds what the focus is in.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const open = document.activeElement.closest('details[open]:not(.match)');
    if (!open) return;
    open.open = false;
    open.querySelector('summary').focus();
  });
})();
