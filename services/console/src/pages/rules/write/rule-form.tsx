import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { Loading } from '../../../components/loading.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useUnsavedInput } from '../../../session/unsaved-input.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import { type Rule, rulePath } from '../rule-api.ts';
import { usePlan } from '../rule-plan.ts';
import { PlanOfRule } from './plan-of-rule.tsx';
import { RuleInputs } from './rule-inputs.tsx';
import { fieldsOf, problemOf, type RuleFields, type RuleValues, valuesOf } from './rule-values.ts';
import { useSaveRule } from './use-save-rule.ts';
import '../../destinations/form/destination-form.css';

interface RuleFormProps {
  destination: DestinationRef;
  /** The rule, if it exists. */
  stored?: Rule;
}

/** Writes a rule in two steps: what it would do, and then the deed. */
export function RuleForm({ destination, stored }: RuleFormProps) {
  const form = useRuleForm(destination, stored);
  const { rule, values, allowed, plan, planned, save, change } = form;
  const error = save.error ?? plan.error;
  return (
    <form className="stack destination-form" onSubmit={form.submit}>
      {stored === undefined && (
        <TextField
          label="Name"
          help="1 to 128 letters, digits, . _ or -. It cannot be changed later."
          value={rule}
          onChange={form.rename}
          isRequired
        />
      )}
      <RuleInputs
        values={values}
        owner={stored?.owner}
        mayNameOwner={allowed.owner}
        problem={(field) => problemOf(error, field)}
        onChange={change}
      />
      {allowed.refusal && rule !== '' && <NotAllowed {...allowed.refusal} />}
      {planned && !plan.data && !plan.error && <Loading what="what the rule would do" />}
      {planned && plan.data && <PlanOfRule target={form.ref} fields={planned} first={plan.data} />}
      {plan.error && <ProblemNotice title="There is no plan for this rule." error={plan.error} />}
      {save.error && <ProblemNotice title="The rule was not saved." error={save.error} />}
      <div className="row">
        <Button type="submit" kind="primary" isPending={form.isPending} isDisabled={!allowed.write}>
          {plan.data || !allowed.plan ? 'Save the rule' : 'Show the plan'}
        </Button>
        {save.error !== null && plan.data && <Button onPress={() => change({})}>Make another plan</Button>}
      </div>
    </form>
  );
}

/** The input, its plan, and the request that saves it. A change of the input makes another plan necessary. */
function useRuleForm({ type, name }: DestinationRef, stored: Rule | undefined) {
  const [rule, setRule] = useState(stored?.name ?? '');
  const [before] = useState(() => valuesOf(stored));
  const [values, setValues] = useState(before);
  const [planned, setPlanned] = useState<RuleFields>();
  const ref = { type, name, rule: rule || 'any' };
  const allowed = useAllowed(rulePath(ref), stored !== undefined);
  const plan = usePlan(ref, planned);
  const save = useSaveRule(ref, stored);
  const isChanged = values !== before || rule !== (stored?.name ?? '');
  useUnsavedInput(isChanged && !save.isPending && !save.isSuccess);
  const clear = () => {
    setPlanned(undefined);
    save.reset();
  };
  const rename = (text: string) => {
    setRule(text);
    clear();
  };
  const change = (part: Partial<RuleValues>) => {
    setValues({ ...values, ...part });
    clear();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const fields = fieldsOf(values, allowed.owner);
    if (plan.data || !allowed.plan) save.mutate({ fields, plan: plan.data });
    else setPlanned(fields);
  };
  const isPending = plan.isFetching || save.isPending;
  return { rule, ref, values, allowed, plan, planned, save, isPending, rename, change, submit };
}

/** Returns which requests the token may make, and what it lacks. Nothing is refused before that is known. */
function useAllowed(path: string, exists: boolean) {
  const { may, known } = usePermissions([path, `${path}/plan`]);
  const write = !known || (exists ? may('patch', path) : may('create', path) || may('update', path));
  const plan = !known || may('update', `${path}/plan`);
  return { write, plan, owner: may('sudo', path), refusal: refusalOf({ write, plan }, path, exists) };
}

function refusalOf({ write, plan }: { write: boolean; plan: boolean }, path: string, exists: boolean) {
  if (!write)
    return { what: 'This token may not write this rule.', capability: exists ? 'patch' : 'create', path };
  if (plan) return undefined;
  const what = 'This token may not see what the rule would do.';
  return { what, capability: 'update', path: `${path}/plan` };
}
