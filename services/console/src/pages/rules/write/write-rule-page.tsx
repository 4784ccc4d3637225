import { useMemo } from 'react';
import { Link, useParams } from 'wouter';
import { isAbsent } from '../../../api/problem.ts';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { ruleAddress, rulesAddress, useRule } from '../rule-api.ts';
import { RuleForm } from './rule-form.tsx';

/** A form for a new rule of a destination. */
export function NewRulePage() {
  const { type = '', name = '' } = useParams();
  const destination = useMemo(() => ({ type, name }), [type, name]);
  return (
    <>
      <PageHeader title="New rule">
        Every secret that it matches is associated with <Link href={rulesAddress(destination)}>{name}</Link>,
        also those that are created later.
      </PageHeader>
      <RuleForm destination={destination} />
    </>
  );
}

/** The form of a rule that exists. */
export function EditRulePage() {
  const { type = '', name = '', rule = '' } = useParams();
  const ref = useMemo(() => ({ type, name, rule }), [type, name, rule]);
  const { data, error, refetch } = useRule(ref, true);
  return (
    <>
      <PageHeader title={`Edit ${rule}`}>
        Associations of secrets that the rule no longer matches end, unless something else holds them.
      </PageHeader>
      {isAbsent(error) && <p className="notice">This rule does not exist.</p>}
      {error && !data && !isAbsent(error) && (
        <ProblemNotice title="The rule could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the rule" />}
      {data && <RuleForm key={data.updated_at} destination={ref} stored={data} />}
      <p>
        <Link href={ruleAddress(ref)}>Back without saving</Link>
      </p>
    </>
  );
}
