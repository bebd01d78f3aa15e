// What scrolls sideways takes the keyboard's focus, so that arrow keys move it. Material wraps tables when the page is read.
const WIDE = ".md-typeset__scrollwrap, .md-typeset pre > code";
const offerFocus = () => {
  for (const one of document.querySelectorAll(WIDE)) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
};
document$.subscribe(() => requestAnimationFrame(offerFocus));
addEventListener("resize", offerFocus);
addEventListener("change", offerFocus);
