import { type ReactNode, useEffect, useRef } from 'react';

interface PageHeaderProps {
  title: string;
  /** One sentence about the page. */
  children?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a page. It names the tab, and receives the focus after a navigation, so that screen readers announce it. */
export function PageHeader({ title, children, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Secrets`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <header className="page-header">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children && <p>{children}</p>}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}
