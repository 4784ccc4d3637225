import { useEffect } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { dataOf } from '../../../api/client.ts';
import { textOf } from '../../../api/optional.ts';
import { Button } from '../../../components/button.tsx';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { type CheckResult, outcomeOf } from './check-outcome.ts';
import { useAction } from './use-action.ts';
import '../../../components/dialog.css';
import '../destinations.css';

/** Descriptions of the steps of a check, by name (docs/conventions/sync-operation.md#check-and-plan). */
const steps: Readonly<Record<string, string>> = {
  connect: 'sign in',
  create: 'create an external secret with a random name',
  change: 'change it, and read it where the provider permits that',
  remove: 'remove it again',
};

/** Tries the credentials and permissions of a destination, and shows the steps. */
export function CheckDialog({ target, onClose }: { target: DestinationRef; onClose(): void }) {
  const check = useAction(async (api) =>
    dataOf(await api.POST('/v1/sys/sync/destinations/{type}/{name}/check', { params: { path: target } })),
  );
  const { mutate } = check;
  useEffect(() => mutate(), [mutate]);
  const result = check.data as CheckResult | undefined;
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onClose()}>
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">Check of {target.name}</Heading>
          {check.isPending && <Loading what="the outcome, which takes up to 20 s" />}
          {check.error && <ProblemNotice title="The check was not made." error={check.error} />}
          {result && <Steps {...result} />}
          <div className="dialog-actions">
            <Button isDisabled={check.isPending} onPress={() => mutate()}>
              Check again
            </Button>
            <Button kind="primary" onPress={onClose}>
              Close
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const Steps = ({ ok, steps: made }: CheckResult) => (
  <div role="status" className="stack">
    <p>{ok ? 'The credentials and permissions suffice.' : outcomeOf(made)}</p>
    <ol className="steps">
      {made.map(({ step, result, fault, message }) => (
        <li key={step}>
          <StatusBadge status={result} /> <strong>{step}</strong> <span className="soft">{steps[step]}</span>
          {textOf(message) && (
            <div>
              {textOf(message)} {textOf(fault) && <code>{textOf(fault)}</code>}
            </div>
          )}
        </li>
      ))}
    </ol>
  </div>
);
