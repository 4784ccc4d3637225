import { ConfirmDialog } from '../../../../components/confirm-dialog.tsx';
import { count } from '../../../../components/inline/count.ts';
import type { SecretRef } from '../../queries.ts';
import { LosingDestinations, NameLines } from '../losing-destinations.tsx';

interface RemovalDialogProps {
  secret: SecretRef;
  /** The keys that a write removes; undefined if they are not known. */
  keys: readonly string[] | undefined;
  onConfirm(): void;
  onCancel(): void;
}

/** Names the keys that a write removes and the destinations that lose them, and asks. */
export const RemovalDialog = ({ secret, keys, onConfirm, onCancel }: RemovalDialogProps) => (
  <ConfirmDialog
    title={
      keys === undefined
        ? `Replace all keys of ${secret.name}?`
        : `Remove ${count(keys.length, 'key')} of ${secret.name}?`
    }
    action="Write"
    isDangerous
    isPending={false}
    onConfirm={onConfirm}
    onCancel={onCancel}
  >
    {keys === undefined ? (
      <p>Every key that you have not entered is removed. This token may not see which ones there are.</p>
    ) : (
      <>
        <p>The new version no longer has:</p>
        <NameLines names={keys} />
      </>
    )}
    <LosingDestinations secret={secret} what={keys?.length === 1 ? 'this key' : 'these keys'} />
    <p>Where each key is an external secret of its own, that external secret is deleted.</p>
  </ConfirmDialog>
);
