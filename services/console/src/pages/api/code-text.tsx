import './api.css';

/** A text that keeps its lines, and scrolls, also with the keyboard. */
export const CodeText = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard (WCAG 2.1.1).
  <section aria-label={label} tabIndex={0} className="answer">
    <pre>{text}</pre>
  </section>
);
