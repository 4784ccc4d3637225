import { useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import { isAbsent } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { DeleteRuleDialog } from './delete-rule-dialog.tsx';
import { type RuleRef, ruleAddress, rulePath, rulesAddress, useRule } from './rule-api.ts';
import { RuleSummary } from './rule-summary.tsx';

/** One rule: its state and settings, and the secrets that it could not associate. */
export function RulePage() {
  const { type = '', name = '', rule = '' } = useParams();
  const ref = useMemo(() => ({ type, name, rule }), [type, name, rule]);
  const path = rulePath(ref);
  const { may, known } = usePermissions([path]);
  return (
    <>
      <PageHeader title={rule} actions={<RuleActions target={ref} />}>
        A rule of <Link href={rulesAddress(ref)}>{name}</Link>.
      </PageHeader>
      <div className="stack">
        {may('read', path) && <RuleState target={ref} />}
        {known && !may('read', path) && (
          <NotAllowed what="This token may not read the rule." capability="read" path={path} />
        )}
        <p>
          <Link href={rulesAddress(ref)}>All rules of the destination</Link>
        </p>
      </div>
    </>
  );
}

function RuleState({ target }: { target: RuleRef }) {
  const { data, error, refetch } = useRule(target, true);
  if (isAbsent(error)) return <p className="notice">This rule does not exist.</p>;
  if (error && !data)
    return <ProblemNotice title="The rule could not be read." error={error} onRetry={() => refetch()} />;
  if (!data) return <Loading what="the rule" />;
  return <RuleSummary rule={data} />;
}

/** Offers to change a rule that is not being deleted, as far as the token may. */
function RuleActions({ target }: { target: RuleRef }) {
  const path = rulePath(target);
  const { may } = usePermissions([path]);
  const { data } = useRule(target, may('read', path));
  const [asks, setAsks] = useState(false);
  if (data === undefined || data.state === 'deleting') return null;
  return (
    <>
      {may('patch', path) && (
        <Link href={ruleAddress(target, 'edit')} className="button">
          Edit
        </Link>
      )}
      {may('delete', path) && (
        <Button kind="danger" onPress={() => setAsks(true)}>
          Delete
        </Button>
      )}
      {asks && <DeleteRuleDialog target={target} rule={data} onClose={() => setAsks(false)} />}
    </>
  );
}
