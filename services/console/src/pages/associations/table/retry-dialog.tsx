import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Api } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { count } from '../../../components/inline/count.ts';
import { useApi } from '../../../session/session.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { SecretRef } from '../association-api.ts';

interface RetryDialogProps {
  destination: DestinationRef;
  secrets: readonly SecretRef[];
  onClose(): void;
}

interface Outcome {
  done: number;
  failures: { secret: SecretRef; reason: string }[];
}

/** Sets associations again, one after the other: their external secrets are compared and, where they differ, written. */
export function RetryDialog({ destination, secrets, onClose }: RetryDialogProps) {
  const { outcome, retry } = useRetry(destination, secrets);
  const total = secrets.length;
  const isOver = outcome?.done === total;
  const what = total === 1 ? nameOf(secrets[0]) : count(total, 'association');
  return (
    <ConfirmDialog
      title={`Retry ${what}?`}
      action={isOver ? 'Close' : 'Retry'}
      isPending={retry.isPending && !isOver}
      onConfirm={isOver ? onClose : () => retry.mutate()}
      onCancel={onClose}
    >
      <p>
        Every external secret of {total === 1 ? 'it' : 'them'} is compared and, if it differs or its last
        attempt failed, written again.
      </p>
      {outcome && (
        <div role="status" className="stack">
          <progress aria-label="Progress" max={total} value={outcome.done} />
          <p>
            {outcome.done.toLocaleString('en')} of {total.toLocaleString('en')} requested,{' '}
            {outcome.failures.length.toLocaleString('en')} refused
          </p>
          <ul>
            {outcome.failures.map(({ secret, reason }) => (
              <li key={nameOf(secret)}>
                <code>{nameOf(secret)}</code>: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </ConfirmDialog>
  );
}

const nameOf = (secret: SecretRef | undefined): string => `${secret?.mount}/${secret?.secret_name}`;

function useRetry(destination: DestinationRef, secrets: readonly SecretRef[]) {
  const api = useApi();
  const queries = useQueryClient();
  const [outcome, setOutcome] = useState<Outcome>();
  const retry = useMutation({
    mutationFn: async () => {
      const failures: Outcome['failures'] = [];
      for (const [done, secret] of secrets.entries()) {
        const reason = await setAgain(api, destination, secret);
        if (reason !== undefined) failures.push({ secret, reason });
        setOutcome({ done: done + 1, failures: [...failures] });
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['sync'] }),
  });
  return { outcome, retry };
}

/** Returns why the service refused, or undefined. It does not wait for the outcome, which the table shows. */
async function setAgain(api: Api, path: DestinationRef, secret: SecretRef): Promise<string | undefined> {
  try {
    await api.POST('/v1/sys/sync/destinations/{type}/{name}/associations/set', {
      params: { path, query: { wait: 0 } },
      body: secret,
    });
    return undefined;
  } catch (error) {
    return error instanceof ApiProblem ? error.message : 'the service did not respond';
  }
}
