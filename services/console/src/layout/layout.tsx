import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { LiveBadge } from '../live/live-badge.tsx';
import { useSession } from '../session/session.ts';
import { Banners } from './banners/banners.tsx';
import { NamespaceSwitch } from './namespace-switch.tsx';
import { Navigation } from './navigation.tsx';
import { ThemeSelect } from './theme-select.tsx';
import './layout.css';

/** The frame of every page: skip link, header and navigation. */
export function Layout({ children }: { children: ReactNode }) {
  const { signOut } = useSession();
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <span className="bar-name">Secrets</span>
        <LiveBadge />
        <NamespaceSwitch />
        <ThemeSelect />
        <Button onPress={signOut}>Sign out</Button>
      </header>
      <Navigation />
      <main id="main" className="main" tabIndex={-1}>
        <Banners />
        {children}
      </main>
    </div>
  );
}
