import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { Properties } from '../properties.tsx';

const revokePath = 'auth/token/revoke-accessor';

/** The properties of the token with an accessor, and its revocation. */
export function TokenDetails({ accessor, onClose }: { accessor: string; onClose(): void }) {
  const api = useApi();
  const { may } = usePermissions([revokePath]);
  const [asks, setAsks] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['access', 'token', accessor],
    queryFn: async () => dataOf(await api.POST('/v1/auth/token/lookup-accessor', { body: { accessor } })),
  });
  if (error) return <ProblemNotice title={`No token could be found for ${accessor}.`} error={error} />;
  if (data === undefined) return <Loading what="the token" />;
  const { id: _, ...shown } = data;
  return (
    <section className="card stack" aria-label={`Token ${accessor}`}>
      <Properties of={shown} />
      <div className="row">
        {may('sudo', revokePath) && may('update', revokePath) && (
          <Button kind="danger" onPress={() => setAsks(true)}>
            Revoke
          </Button>
        )}
        <Button onPress={onClose}>Close</Button>
      </div>
      {asks && <RevokeDialog accessor={accessor} onClose={() => setAsks(false)} onDone={onClose} />}
    </section>
  );
}

interface RevokeDialogProps {
  accessor: string;
  onClose(): void;
  onDone(): void;
}

function RevokeDialog({ accessor, onClose, onDone }: RevokeDialogProps) {
  const api = useApi();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.POST('/v1/auth/token/revoke-accessor', { body: { accessor } }),
    onSuccess: async () => {
      onDone();
      await queries.invalidateQueries({ queryKey: ['access', 'auth/token/accessors'] });
    },
  });
  return (
    <ConfirmDialog title="Revoke the token?" action="Revoke" isDangerous {...runs(revoke)} onCancel={onClose}>
      <p>
        The token of <code>{accessor}</code> and all tokens that were created with it are refused from then
        on. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
