import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { useSession } from '../../session/session.ts';
import { useIsReplaced } from '../../upgrade/served-version.ts';
import '../../components/notice.css';
import './banners.css';

/** Says on every page that a new version of the console is available. */
export function Banners() {
  const { reload } = useSession();
  const isReplaced = useIsReplaced();
  return (
    <div className="banners" role="status">
      {isReplaced && (
        <Banner tone="busy">
          <span>
            <strong>A new version is available.</strong> You stay signed in when you reload.
          </span>
          <Button onPress={reload}>Reload</Button>
        </Banner>
      )}
    </div>
  );
}

const Banner = ({ tone, children }: { tone: 'busy' | 'bad'; children: ReactNode }) => (
  <div className={`banner notice notice-${tone}`}>{children}</div>
);
