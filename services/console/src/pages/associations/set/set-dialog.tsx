import { type FormEvent, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useUnsavedInput } from '../../../session/unsaved-input.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { SecretRef } from '../association-api.ts';
import { PlanView } from './plan-view.tsx';
import { usePlanAndSet } from './use-plan-and-set.ts';
import '../../../components/dialog.css';

interface SetDialogProps {
  destination: DestinationRef;
  /** The secret, if it is known already. */
  secret?: SecretRef;
  onClose(): void;
}

/** Associates a secret in two steps: what would happen, and then the deed. */
export function SetDialog({ destination, secret, onClose }: SetDialogProps) {
  const [initial] = useState(secret ?? { mount: '', secret_name: '' });
  const [wanted, setWanted] = useState(initial);
  const { plan, set, clear } = usePlanAndSet(destination, wanted);
  useUnsavedInput(!set.data && JSON.stringify(wanted) !== JSON.stringify(initial));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (set.data) onClose();
    else if (plan.data) set.mutate();
    else plan.mutate();
  };
  const change = (field: keyof SecretRef) => (value: string) => {
    setWanted({ ...wanted, [field]: value });
    clear();
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onClose()}>
      <Modal className="modal">
        <Dialog className="dialog">
          <form className="stack" onSubmit={submit}>
            <Heading slot="title">Associate a secret with {destination.name}</Heading>
            <TextField
              label="Mount"
              help="Path of the key-value store, such as secret."
              value={wanted.mount}
              onChange={change('mount')}
              isRequired
              autoFocus
            />
            <TextField
              label="Secret"
              help="Its path in the mount, such as shop/db."
              value={wanted.secret_name}
              onChange={change('secret_name')}
              isRequired
            />
            {plan.error && <ProblemNotice title="This secret cannot be associated." error={plan.error} />}
            {plan.data && !set.data && <PlanView plan={plan.data} />}
            {set.error && <ProblemNotice title="The association was refused." error={set.error} />}
            {set.data && <Outcome statuses={set.data} />}
            <div className="dialog-actions">
              {!set.data && <Button onPress={onClose}>Cancel</Button>}
              <Button
                type="submit"
                kind="primary"
                isPending={plan.isPending || set.isPending}
                isDisabled={plan.data !== undefined && !plan.data.accepted}
              >
                {set.data ? 'Close' : plan.data ? 'Associate' : 'Show the plan'}
              </Button>
            </div>
          </form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const Outcome = ({ statuses }: { statuses: readonly { name: string; status: string; error?: string }[] }) => (
  <ul role="status">
    {statuses.map(({ name, status, error }) => (
      <li key={name}>
        <code>{name}</code> <StatusBadge status={status} />
        {error && <div>{error}</div>}
      </li>
    ))}
  </ul>
);
