import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { useApi } from '../../../session/session.ts';
import type { SecretMetadata, SecretRef } from '../queries.ts';
import { folderHref } from '../secret-links.ts';
import { LosingDestinations } from './losing-destinations.tsx';

interface DeleteSecretProps {
  secret: SecretRef;
  metadata: SecretMetadata;
}

/** Deletes a secret with all its versions, after saying how many there are and where it is synced. */
export function DeleteSecret(props: DeleteSecretProps) {
  const [asks, setAsks] = useState(false);
  return (
    <p>
      <Button kind="danger" onPress={() => setAsks(true)}>
        Delete the secret for good
      </Button>
      {asks && <DeleteDialog {...props} onClose={() => setAsks(false)} />}
    </p>
  );
}

function DeleteDialog({ secret, metadata, onClose }: DeleteSecretProps & { onClose(): void }) {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const params = { path: { mount: secret.mount, path: secret.name } };
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/{mount}/metadata/{path}', { params }),
    onSuccess: async () => {
      navigate(folderHref(secret.mount, secret.name.replace(/[^/]*$/, '')));
      await queries.invalidateQueries({ queryKey: ['secrets'] });
    },
  });
  const count = Object.keys(metadata.versions).length;
  return (
    <ConfirmDialog
      title={`Delete ${secret.name} for good?`}
      action="Delete"
      isDangerous
      {...runs(remove)}
      onCancel={onClose}
    >
      <p>
        {count === 1 ? 'Its version is' : `All ${count} versions are`} erased with the metadata. This cannot
        be undone.
      </p>
      <LosingDestinations secret={secret} what="its external secrets" />
    </ConfirmDialog>
  );
}
