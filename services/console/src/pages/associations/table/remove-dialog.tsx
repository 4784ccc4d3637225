import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { CheckboxField } from '../../../components/fields/checkbox-field.tsx';
import { count } from '../../../components/inline/count.ts';
import { useApi } from '../../../session/session.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import { type SecretRef, useHistory } from '../association-api.ts';

interface RemoveDialogProps {
  destination: DestinationRef;
  secret: SecretRef;
  onClose(): void;
}

/** Names the external secrets that a removal deletes or keeps, and asks. */
export function RemoveDialog({ destination, secret, onClose }: RemoveDialogProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [keep, setKeep] = useState(false);
  const removal = useMutation({
    mutationFn: () =>
      api.POST('/v1/sys/sync/destinations/{type}/{name}/associations/remove', {
        params: { path: destination, query: { wait: 2 } },
        body: { ...secret, ...(keep && { keep: true }) },
      }),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['sync'] });
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${secret.mount}/${secret.secret_name} from ${destination.name}?`}
      action="Remove"
      isDangerous
      {...runs(removal)}
      onCancel={onClose}
    >
      <p>
        The secret itself stays as it is. What the association has created{' '}
        {keep
          ? 'stays in the external store, but belongs to it no longer:'
          : 'is deleted from the external store:'}
      </p>
      <ExternalSecrets destination={destination} secret={secret} />
      <CheckboxField label="Keep the external secrets." isSelected={keep} onChange={setKeep} />
    </ConfirmDialog>
  );
}

function ExternalSecrets({ destination, secret }: Omit<RemoveDialogProps, 'onClose'>) {
  const { data, error } = useHistory(destination, secret);
  if (error) return <p>Its external secrets, whose names could not be read.</p>;
  if (!data) return <p role="status">Counting the external secrets…</p>;
  const { external_secrets: found, next } = data;
  return (
    <>
      <p>
        <strong>
          {next ? 'More than ' : ''}
          {count(found.length, 'external secret')}
        </strong>
      </p>
      <ul>
        {found.slice(0, 10).map(({ sub_key, external_name }) => (
          <li key={`${sub_key} ${external_name}`}>
            <code>{external_name}</code>
          </li>
        ))}
      </ul>
      {found.length > 10 && <p>and others</p>}
    </>
  );
}
