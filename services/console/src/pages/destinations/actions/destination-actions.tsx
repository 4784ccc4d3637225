import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { type DestinationRef, destinationAddress, destinationPath } from '../destination-api.ts';
import { CheckDialog } from './check-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { InspectDialog } from './inspect-dialog.tsx';
import { RetryDialog } from './retry-dialog.tsx';

type Asked = 'check' | 'inspect' | 'retry' | 'delete';

/** Buttons for the actions on the whole destination that the token may perform. */
export function DestinationActions({ target }: { target: DestinationRef }) {
  const base = destinationPath(target);
  const path = (action: string) => `${base}/${action}`;
  const { may } = usePermissions([base, path('check'), path('inspect'), path('retry'), path('replan')]);
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const dialogs: Record<Asked, ReactNode> = {
    check: <CheckDialog target={target} onClose={close} />,
    inspect: <InspectDialog target={target} onClose={close} />,
    retry: <RetryDialog target={target} onClose={close} />,
    delete: <DeleteDialog target={target} onClose={close} />,
  };
  return (
    <div className="row">
      {may('update', path('check')) && (
        <Button onPress={() => setAsked('check')}>Check the credentials</Button>
      )}
      {may('update', path('inspect')) && <Button onPress={() => setAsked('inspect')}>Inspect now</Button>}
      {may('update', path('retry')) && <Button onPress={() => setAsked('retry')}>Retry what failed</Button>}
      {may('update', path('replan')) && (
        <Link href={destinationAddress(target, 'replan')} className="button">
          Replan the names
        </Link>
      )}
      {may('delete', base) && (
        <Button kind="danger" onPress={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {asked && dialogs[asked]}
    </div>
  );
}
