'use strict';
(() => {
  // Buttons that copy the text of an element. They show the result for two seconds.
  for (const b of document.querySelectorAll('[data-copy]')) {
    const name = b.textContent;
    let timer = 0;
    b.hidden = false;
    b.addEventListener('click', async () => {
      const from = document.getElementById(b.dataset.copy);
      try {
        await navigator.clipboard.writeText(from.innerText);
        b.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(from); // to be copied by hand
        b.textContent = 'Selected';
      }
      clearTimeout(timer);
      timer = setTimeout(() => { b.textContent = name; }, 2000);
    });
  }
})();
