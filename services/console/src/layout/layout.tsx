import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { pages } from '../pages/all-pages.ts';
import { useSession } from '../session/session.ts';
import { NamespaceSwitch } from './namespace-switch.tsx';
import { ThemeSelect } from './theme-select.tsx';
import './layout.css';

/** What surrounds every page. */
export function Layout({ children }: { children: ReactNode }) {
  const { signOut } = useSession();
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <span className="bar-name">Secrets</span>
        <NamespaceSwitch />
        <ThemeSelect />
        <Button onPress={signOut}>Sign out</Button>
      </header>
      <Navigation />
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function Navigation() {
  const [location] = useLocation();
  return (
    <nav className="nav" aria-label="Pages of the console">
      <ul>
        {pages
          .filter(({ label }) => label !== undefined)
          .map(({ path, label }) => (
            <li key={path}>
              <Link href={path} aria-current={isBelow(location, path) ? 'page' : undefined}>
                {label}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}

const isBelow = (location: string, path: string): boolean =>
  path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
