import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { useSession } from '../../session/session.ts';
import { useIsReplaced } from '../../upgrade/served-version.ts';
import { useInstallation, useIsAuditFailing } from './installation.ts';
import '../../components/notice.css';
import './banners.css';

/** Shows what is wrong with the installation, as far as the token may see it, and whether the console is out of date. */
export const Banners = () => (
  <div className="banners" role="status">
    <NewVersion />
    <FailingAudit />
    <Installation />
    {!window.isSecureContext && (
      <Banner tone="bad">
        <strong>This connection is not encrypted.</strong> Everybody on the way can read your token and every
        secret that you open. Use HTTPS.
      </Banner>
    )}
  </div>
);

interface BannerProps {
  tone: 'busy' | 'bad';
  children: ReactNode;
  action?: ReactNode;
}

const Banner = ({ tone, children, action }: BannerProps) => (
  <div className={`banner notice notice-${tone}`}>
    <p>{children}</p>
    {action}
  </div>
);

function NewVersion() {
  const { reload } = useSession();
  const isReplaced = useIsReplaced();
  if (!isReplaced) return null;
  return (
    <Banner tone="busy" action={<Button onPress={reload}>Reload</Button>}>
      <strong>A new version is available.</strong> You stay signed in when you reload.
    </Banner>
  );
}

const FailingAudit = () =>
  useIsAuditFailing() && (
    <Banner tone="bad">
      <strong>The audit log cannot be written.</strong> The service refuses every request until it can.
    </Banner>
  );

/** The overview has both in more detail, with what can be done. */
function Installation() {
  const [address] = useLocation();
  const { isDisabled, isHeld } = useInstallation();
  if (address === '/' || !(isDisabled || isHeld)) return null;
  return (
    <Banner tone={isHeld ? 'bad' : 'busy'} action={<Link href="/">Open the overview</Link>}>
      <strong>{isHeld ? 'Syncing is held' : 'Syncing is disabled'}:</strong> nothing is sent to any
      destination.
    </Banner>
  );
}
