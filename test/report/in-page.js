/**
 * Is evaluated inside the browser's page, not imported: finds texts that overlap, that are cut, that leave their bar or are too pale, and says
 * which.
 */
function findFaults() {
  const wrong = [];
  const width = document.documentElement.clientWidth || window.innerWidth;
  if (document.documentElement.scrollWidth > width + 1)
    wrong.push(`cut: the page is ${document.documentElement.scrollWidth} px wide`);

  // Each line of each text, with its place.
  const pieces = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = (node.textContent ?? '').trim();
    if (element === null || text === '' || element.closest('title, style, head') !== null) continue;
    // Heads of columns stand in front of each value in a narrow window; the row of heads is for screen readers then.
    if (getComputedStyle(element.closest('thead') ?? element).position === 'absolute' && element.closest('thead'))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 0 && box.height > 0) pieces.push({ text: text.slice(0, 60), element, box });
  }
  if (pieces.length === 0) wrong.push('there is no text');

  /** A line's box is higher than its letters. */
  const inner = ({ left, right, top, bottom }) => ({
    left: left + 0.5,
    right: right - 0.5,
    top: top + (bottom - top) * 0.2,
    bottom: bottom - (bottom - top) * 0.2,
  });
  const sorted = pieces.toSorted((a, b) => a.box.top - b.box.top);
  for (const [index, a] of sorted.entries()) {
    if (a.box.left < -0.5 || a.box.right > width + 0.5 || a.box.top < -0.5) wrong.push(`cut: ${a.text}`);
    const [one, bottom] = [inner(a.box), a.box.bottom];
    for (let at = index + 1; at < sorted.length; at += 1) {
      const b = sorted[at];
      if (b === undefined || b.box.top > bottom) break;
      const other = inner(b.box);
      const isBeside =
        one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
      if (!isBeside) wrong.push(`overlap: ${a.text} | ${b.text}`);
    }
    if (a.element.classList.contains('in')) {
      const bar = a.element.previousElementSibling?.getBoundingClientRect();
      if (bar === undefined || a.box.left < bar.left - 0.5 || a.box.right > bar.right + 0.5)
        wrong.push(`beyond its bar: ${a.text}`);
    }
    const contrast = contrastOf(a.element);
    if (contrast < 4.5) wrong.push(`too pale: ${a.text}, ${contrast.toFixed(1)} to 1`);
  }
  for (const element of document.querySelectorAll('body *'))
    if (element instanceof HTMLElement && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
      if (getComputedStyle(element).display !== 'inline' && element.closest('thead') === null)
        wrong.push(`cut: ${element.tagName} ${element.textContent?.slice(0, 60)}`);
  return wrong;

  /** Of a text with what is behind it, as WCAG 2 reckons. */
  function contrastOf(element) {
    const isDrawn = element instanceof SVGElement;
    const style = getComputedStyle(element);
    const bar = element.classList.contains('in') ? element.previousElementSibling : null;
    const paper = document.querySelector('.paper');
    const behind =
      bar !== null
        ? getComputedStyle(bar).fill
        : paper !== null
          ? getComputedStyle(paper).fill
          : getComputedStyle(document.body).backgroundColor;
    const [light = 0, dark = 0] = [luminanceOf(isDrawn ? style.fill : style.color), luminanceOf(behind)].sort(
      (a, b) => b - a,
    );
    return (light + 0.05) / (dark + 0.05);
  }

  function luminanceOf(colour) {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
}

findFaults();
