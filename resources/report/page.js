for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    // A button inside would keep print from repeating the heads on each page.
    head.tabIndex = 0;
    head.onkeydown = event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); head.click(); } };
    head.onclick = () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const compare = (a, b) => {
        const [x, y] = [Number(a), Number(b)], numbers = a !== '' && b !== '' && !isNaN(x) && !isNaN(y);
        return numbers ? x - y : a.localeCompare(b, 'en', {numeric: true});
      };
      const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
      body.append(...rows);
    };
  });
}
const numbers = document.querySelectorAll('details.number');
addEventListener('click', event => {
  const own = event.target.closest('details.number');
  for (const other of numbers) if (other !== own) other.open = false;
});
addEventListener('keydown', event => {
  if (event.key === 'Escape') for (const one of numbers) one.open = false;
});
// In print nothing can be opened: what figures, comparisons and jobs were made from is shown.
const closed = () => document.querySelectorAll(
  'figcaption details:not([open]), details.machine:not([open]), .jobs details:not([open])');
let opened = [];
addEventListener('beforeprint', () => { opened = [...closed()]; for (const one of opened) one.open = true; });
addEventListener('afterprint', () => { for (const one of opened) one.open = false; });
