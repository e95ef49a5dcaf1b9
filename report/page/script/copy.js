'use strict';
(() => {
  // Copying.
  for (const b of document.querySelectorAll('[data-copy]')) {
    b.hidden = false;
    b.addEventListener('click', async () => {
      const from = document.getElementById(b.dataset.copy);
      try {
        await navigator.clipboard.writeText(from.textContent);
        b.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(from); // to be copied by hand
        b.textContent = 'Selected';
      }
    });
  }
})();
