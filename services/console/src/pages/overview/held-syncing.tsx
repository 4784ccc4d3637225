import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog, runs } from '../../components/confirm-dialog.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { useApi, useSession } from '../../session/session.ts';
import '../../components/notice.css';

const confirmPath = 'sys/sync/confirm-installation';
const paths = [confirmPath];

/** docs/conventions/sync-operation.md#held-syncing */
const reasons: Readonly<Record<string, string>> = {
  installation: 'A service was started with another INSTALLATION than the one that the database belongs to.',
  database:
    'The database is not the one that was used before: a dump was restored, or the database was copied or moved.',
  recovery:
    'The database server was recovered to an earlier time, or a standby was promoted while sync-control had been stopped for a long time.',
};

/** Why nothing is sent to any destination, what to do about it, and the button that continues, for those who may. */
export function HeldSyncing({ because }: { because: string }) {
  const { namespace } = useSession();
  const { may } = usePermissions(paths);
  const [asks, setAsks] = useState(false);
  const isOperator = namespace === '' || namespace === 'admin';
  const mayConfirm = isOperator && may('update', confirmPath) && may('sudo', confirmPath);
  return (
    <div className="notice notice-bad" role="status">
      <p>
        <strong>Syncing is held.</strong> {reasons[because]} Nothing is sent to any destination, and what is
        requested waits as PENDING.
      </p>
      <p>
        If this is a copy of another installation, leave it held, or change its destinations first. If it
        replaces the former one, which no longer runs, confirm it.{' '}
        {!mayConfirm && (
          <>
            That needs the capabilities <code>update</code> and <code>sudo</code> on{' '}
            <code>{confirmPath}</code>, in the root or the administrative namespace.
          </>
        )}
      </p>
      {mayConfirm && <Button onPress={() => setAsks(true)}>Confirm this installation</Button>}
      {asks && <ConfirmInstallation onClose={() => setAsks(false)} />}
    </div>
  );
}

function ConfirmInstallation({ onClose }: { onClose(): void }) {
  const api = useApi();
  const queries = useQueryClient();
  const confirmation = useMutation({
    mutationFn: () => api.POST('/v1/sys/sync/confirm-installation'),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['sync'] });
    },
  });
  return (
    <ConfirmDialog
      title="May this installation write to its destinations?"
      action="Yes, continue"
      isDangerous
      {...runs(confirmation)}
      onCancel={onClose}
    >
      <p>
        Everything that waits is sent to its destinations, in all namespaces, and overwrites what another
        installation may have written there since. Everything is also looked at, and no repair begins before
        that has ended.
      </p>
    </ConfirmDialog>
  );
}
