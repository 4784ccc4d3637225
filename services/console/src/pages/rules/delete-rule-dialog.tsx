import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog, runs } from '../../components/confirm-dialog.tsx';
import { CheckboxField } from '../../components/fields/checkbox-field.tsx';
import { count } from '../../components/inline/count.ts';
import { useApi } from '../../session/session.ts';
import { useAction } from '../destinations/actions/use-action.ts';
import type { Rule, RuleRef } from './rule-api.ts';
import { readTotals } from './rule-plan.ts';

interface DeleteRuleDialogProps {
  target: RuleRef;
  rule: Rule;
  onClose(): void;
}

/** Says how many associations a deletion of a rule ends, or leaves, and asks. */
export function DeleteRuleDialog({ target, rule, onClose }: DeleteRuleDialogProps) {
  const [keep, setKeep] = useState(false);
  const released = useReleased(target, rule);
  const deletion = useAction(
    (api) =>
      api.DELETE('/v1/sys/sync/destinations/{type}/{name}/rules/{rule}', {
        params: { path: target, query: keep ? { keep: true } : {} },
      }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={`Delete the rule ${target.rule}?`}
      action="Delete"
      isDangerous
      {...runs(deletion)}
      onCancel={onClose}
    >
      <p role="status">{keep ? keptText(rule) : releasedText(rule, released)}</p>
      <CheckboxField
        label="Keep its associations."
        help="They are then held by hand, and their external secrets stay up to date."
        isSelected={keep}
        onChange={setKeep}
      />
    </ConfirmDialog>
  );
}

const keptText = ({ associated }: Rule): string =>
  `${count(associated, 'association')} of the rule ${associated === 1 ? 'stays' : 'stay'}.`;

function releasedText({ associated }: Rule, released: Released): string {
  if (released === undefined) return 'Counting the associations that end…';
  if (released === 0) return 'No association ends: others hold what the rule has associated.';
  const number = released === 'unknown' ? `Up to ${count(associated, 'association')}` : released;
  return `${typeof number === 'string' ? number : count(number, 'association')} end, and the external secrets are deleted from the store. If they are many, they are held until an operator confirms them.`;
}

/** The number of associations that nothing else holds; undefined until it is known. */
type Released = number | 'unknown' | undefined;

/** A rule that excludes everything would release as much as a deletion. */
function useReleased(target: RuleRef, { mount, path, associated }: Rule): Released {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['rule-plan', 'deletion', target],
    queryFn: () => readTotals(api, target, { mount, path, exclude: ['*'], metadata_match: {} }),
    gcTime: 0,
    retry: false,
    enabled: associated > 0,
  });
  if (associated === 0) return 0;
  if (error) return 'unknown';
  return data?.to_release;
}
