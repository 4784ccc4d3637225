import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog, runs } from '../../components/confirm-dialog.tsx';
import { count } from '../../components/inline/count.ts';
import { usePermissions } from '../../session/permissions.ts';
import { useApi, useSession } from '../../session/session.ts';
import { configPath } from './queries.ts';
import '../../components/notice.css';

interface SyncSwitchProps {
  disabled: boolean;
  /** Pending operations of the installation. */
  pending: number;
}

/** Whether anything is synced, and the switch for it. Only the root and the administrative namespace have it. */
export function SyncSwitch({ disabled, pending }: SyncSwitchProps) {
  const { namespace } = useSession();
  const { may } = usePermissions([configPath]);
  const [asks, setAsks] = useState(false);
  const maySwitch = (namespace === '' || namespace === 'admin') && may('patch', configPath);
  if (!disabled && !maySwitch) return null;
  return (
    <div className={`notice ${disabled ? 'notice-busy' : 'notice-good'}`}>
      <p>
        <strong>{disabled ? 'Syncing is disabled.' : 'Syncing is enabled.'}</strong>{' '}
        {disabled && `Nothing is sent to any destination. ${operations(pending)} wait as PENDING.`}
      </p>
      {maySwitch && (
        <Button onPress={() => setAsks(true)}>{disabled ? 'Enable syncing' : 'Disable syncing'}</Button>
      )}
      {asks && <SwitchDialog disabled={disabled} pending={pending} onClose={() => setAsks(false)} />}
    </div>
  );
}

const operations = (number: number): string => count(number, 'operation');

function SwitchDialog({ disabled, pending, onClose }: SyncSwitchProps & { onClose(): void }) {
  const api = useApi();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => api.PATCH('/v1/sys/sync/config', { body: { disabled: !disabled } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sync'] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={disabled ? 'Enable syncing in all namespaces?' : 'Disable syncing in all namespaces?'}
      action={disabled ? 'Enable' : 'Disable'}
      {...runs(change)}
      onCancel={onClose}
    >
      <p>
        {disabled
          ? `${operations(pending)} that wait are sent to their destinations, in all namespaces.`
          : `From then on, nothing is sent to any destination of any namespace. Attempts in progress are completed. Changes are queued as PENDING (${operations(pending)} now), and sent when syncing is enabled again.`}
      </p>
    </ConfirmDialog>
  );
}
