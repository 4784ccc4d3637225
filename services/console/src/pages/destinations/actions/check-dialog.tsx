import { dataOf } from '../../../api/client.ts';
import { textOf } from '../../../api/optional.ts';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { OutcomeDialog } from '../../../components/outcome-dialog.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { type CheckResult, outcomeOf } from './check-outcome.ts';
import { useAction } from './use-action.ts';
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
  return (
    <OutcomeDialog
      title={`Check of ${target.name}`}
      action={check}
      awaited="the outcome, which takes up to 20 s"
      failed="The check was not made."
      again="Check again"
      onClose={onClose}
    >
      {(result) => <Steps {...(result as CheckResult)} />}
    </OutcomeDialog>
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
