// The parts of a report's page that are the same in every report.
#pragma once

namespace conelab {

/// The beginning of the page. Its policy forbids every request of a browser.
inline constexpr const char* page_begin = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="conelab report">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
)";

inline constexpr const char* page_style = R"(
:root { --ink: #222; --quiet: #666; --page: #fff; --line: #ddd; --panel: #f5f5f5; --link: #0060a0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --quiet: #999; --page: #161616; --line: #3a3a3a; --panel: #242424; --link: #7ec0f0; }
}
* { box-sizing: border-box; }
body { color: var(--ink); background: var(--page); font: 16px/1.5 system-ui, sans-serif;
  max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { line-height: 1.2; }
.facts, .machine, figcaption { color: var(--quiet); }
.text { margin: 1rem 0; max-width: 45rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }
figure { margin: 1rem 0; flex: 0 1 auto; max-width: 100%; }
.paper { background: #fff; border: 1px solid var(--line); border-radius: 4px; padding: 4px;
  content-visibility: auto; contain-intrinsic-size: auto 24rem; }
.paper svg { display: block; max-width: 100%; height: auto; }
figcaption { font-size: .9rem; max-width: 45rem; margin-top: .3rem; }
summary { cursor: pointer; color: var(--link); }
code { font: .85em ui-monospace, monospace; }
.command { display: block; background: var(--panel); padding: .4rem; border-radius: 4px; white-space: pre-wrap;
  color: var(--ink); }
.digest { display: block; font-size: .85rem; color: var(--quiet); margin-bottom: .5rem; }
.caption { margin: 1.5rem 0 0; }
.scroll { overflow-x: auto; margin: .3rem 0 1.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; overflow-wrap: normal; }
td { border-top: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--ink); }
th button { all: unset; cursor: pointer; font-weight: bold; }
th button:focus-visible, summary:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " ▲"; }
th[aria-sort=descending] button::after { content: " ▼"; }
details.number { display: inline-block; }
details.number > summary { list-style: none; white-space: nowrap; color: inherit; text-decoration: underline dotted var(--quiet); }
details.number > summary::-webkit-details-marker { display: none; }
details.number > div { position: fixed; z-index: 1; left: 0; right: 0; bottom: 0; max-height: 50vh; overflow: auto;
  background: var(--page); border-top: 2px solid var(--ink); padding: 1rem max(1rem, 50vw - 30rem);
  overflow-wrap: anywhere; white-space: normal; }
.jobs td:first-child { min-width: 12rem; }
.claims td { min-width: 8rem; overflow-wrap: anywhere; }
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; }
  figure, tr { break-inside: avoid; }
  .paper { border: 0; padding: 0; content-visibility: visible; }
  .scroll { overflow: visible; }
  details.number > summary { text-decoration: none; }
}
)";

/// Sorts tables by a click on a heading, and leaves one number's origin open at a time.
inline constexpr const char* page_script = R"(
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
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
)";

}  // namespace conelab
