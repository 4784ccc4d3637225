import { type ReactNode, useEffect } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { Loading } from './loading.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import './dialog.css';

interface OutcomeDialogProps<Outcome> {
  title: string;
  action: { mutate(): void; data: Outcome | undefined; error: Error | null; isPending: boolean };
  /** The awaited outcome, as in "Loading …". */
  awaited: string;
  /** Says that the action failed. */
  failed: string;
  /** The name of the button that does it again. */
  again: string;
  onClose(): void;
  children(outcome: Outcome): ReactNode;
}

/** Does something once when it opens, shows what came of it, and does it again on request. */
export function OutcomeDialog<Outcome>(props: OutcomeDialogProps<Outcome>) {
  const { title, action, awaited, failed, again, onClose, children } = props;
  const { mutate, data, error, isPending } = action;
  useEffect(() => mutate(), [mutate]);
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onClose()}>
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">{title}</Heading>
          {isPending && <Loading what={awaited} />}
          {error && <ProblemNotice title={failed} error={error} />}
          {data && children(data)}
          <div className="dialog-actions">
            <Button isDisabled={isPending} onPress={() => mutate()}>
              {again}
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
