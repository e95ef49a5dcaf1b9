'use strict';
(() => {
  // Light and dark.
  const root = document.documentElement;
  const button = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const named = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    named();
  });
  system.addEventListener('change', named);
  named();
})();
