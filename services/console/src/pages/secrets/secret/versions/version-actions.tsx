import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../../components/confirm-dialog.tsx';
import { usePermissions } from '../../../../session/permissions.ts';
import { useApi } from '../../../../session/session.ts';
import { type SecretRef, useSyncedTo } from '../../queries.ts';
import type { SecretPaths } from '../secret-paths.ts';
import { consequence, type VersionOperation, versionOperations } from './version-operation.ts';
import type { Version } from './version-state.ts';

interface VersionActionsProps {
  secret: SecretRef;
  paths: SecretPaths;
  /** Those that are chosen. */
  versions: readonly Version[];
  onDone(): void;
}

/** Buttons to delete, undelete and destroy the chosen versions. Each asks first. */
export function VersionActions(props: VersionActionsProps) {
  const { paths, versions } = props;
  const { may } = usePermissions([paths.delete, paths.undelete, paths.destroy]);
  const [asked, setAsked] = useState<VersionOperation>();
  const offered = versionOperations.filter(({ verb }) => may('update', paths[verb]));
  if (offered.length === 0) return null;
  return (
    <div className="row toolbar">
      {offered.map((change) => {
        const count = versions.filter(change.appliesTo).length;
        return (
          <Button key={change.verb} isDisabled={count === 0} onPress={() => setAsked(change)}>
            {change.label}
          </Button>
        );
      })}
      {versions.length === 0 && <span className="soft">Choose versions first.</span>}
      {asked && <ChangeDialog {...props} change={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

function ChangeDialog(props: VersionActionsProps & { change: VersionOperation; onClose(): void }) {
  const { secret, versions, onDone, change, onClose } = props;
  const api = useApi();
  const queries = useQueryClient();
  const { destinations } = useSyncedTo(secret);
  const numbers = versions.filter(change.appliesTo).map(({ number }) => number);
  const params = { path: { mount: secret.mount, path: secret.name } };
  const apply = useMutation({
    mutationFn: () => api.POST(`/v1/{mount}/${change.verb}/{path}`, { params, body: { versions: numbers } }),
    onSuccess: async () => {
      onDone();
      onClose();
      await queries.invalidateQueries({ queryKey: ['secrets'] });
    },
  });
  return (
    <ConfirmDialog
      title={`${change.label} ${numbers.length === 1 ? `version ${numbers[0]}` : `${numbers.length} versions`} of ${secret.name}?`}
      action={change.label}
      isDangerous={change.verb === 'destroy'}
      {...runs(apply)}
      onCancel={onClose}
    >
      <p>{consequence(change.verb, numbers, destinations?.length)}</p>
    </ConfirmDialog>
  );
}
