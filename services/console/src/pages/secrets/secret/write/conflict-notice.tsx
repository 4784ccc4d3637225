import { Button } from '../../../../components/button.tsx';
import type { Base } from './base.ts';
import '../../../../components/notice.css';

interface ConflictNoticeProps {
  base: Base;
  isPending: boolean;
  onRebase(): void;
}

/** Says that another version was written in the meantime, and offers to apply the changes to it. */
export const ConflictNotice = ({ base, isPending, onRebase }: ConflictNoticeProps) => (
  <div className="notice notice-bad" role="alert">
    <p>
      <strong>Nothing was written.</strong>
    </p>
    <p>
      {base.version === 0
        ? 'The secret was written by somebody else in the meantime.'
        : `Another version was written since you opened version ${base.version}.`}{' '}
      What you have entered is kept.
    </p>
    <Button isPending={isPending} onPress={onRebase}>
      Apply my changes to the newest version
    </Button>
  </div>
);
