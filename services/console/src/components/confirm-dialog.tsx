import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import './dialog.css';

interface ConfirmDialogProps {
  /** A question, such as “Delete the destination prod?” */
  title: string;
  /** What will happen, and to how much. */
  children: ReactNode;
  /** The verb on the button, such as “Delete”. */
  action: string;
  isDangerous?: boolean;
  isPending: boolean;
  /** Why the action failed. */
  error?: unknown;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before something happens. Mount it to open it. Escape and “Cancel” close it without doing anything. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, isDangerous = false, isPending, error, onConfirm, onCancel } = props;
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onCancel()}>
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog">
          <Heading slot="title">{title}</Heading>
          {children}
          {error !== undefined && error !== null && (
            <ProblemNotice title="That did not work. Nothing else was changed." error={error} />
          )}
          <div className="dialog-actions">
            <Button autoFocus onPress={onCancel}>
              Cancel
            </Button>
            <Button kind={isDangerous ? 'danger' : 'primary'} isPending={isPending} onPress={onConfirm}>
              {action}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The props of a dialog that confirms a mutation without variables. */
export const runs = ({ mutate, ...state }: { isPending: boolean; error: unknown; mutate(): void }) => ({
  isPending: state.isPending,
  error: state.error,
  onConfirm: () => mutate(),
});
