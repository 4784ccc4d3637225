import { SelectField } from '../../../components/fields/select-field.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { useMounts } from '../../secrets/queries.ts';
import { PairFields } from '../../secrets/secret/write/pair-fields.tsx';
import type { Rule } from '../rule-api.ts';
import type { RuleFields, RuleValues } from './rule-values.ts';
import '../../secrets/secrets.css';

interface RuleInputsProps {
  values: RuleValues;
  /** The owner of a rule that exists. */
  owner: Rule['owner'] | undefined;
  mayNameOwner: boolean;
  /** Why the service refuses a field. */
  problem(field: keyof RuleFields): string | undefined;
  onChange(part: Partial<RuleValues>): void;
}

/** The fields of a rule. */
export const RuleInputs = ({ values, owner, mayNameOwner, problem, onChange }: RuleInputsProps) => (
  <>
    <MountInput value={values.mount} error={problem('mount')} onChange={(mount) => onChange({ mount })} />
    <TextField
      label="Path"
      help={
        <>
          Which secrets of the mount. <code>shop/db</code> is this one, <code>shop/*</code> everything below{' '}
          <code>shop</code>, <code>+/db</code> the secret <code>db</code> below any one segment,{' '}
          <code>*</code> the whole mount.
        </>
      }
      value={values.path}
      error={problem('path')}
      onChange={(path) => onChange({ path })}
      isRequired
    />
    <TextField
      label="Excluded paths"
      help="Patterns of paths that are left out, one on each line."
      rows={3}
      value={values.exclude}
      error={problem('exclude')}
      onChange={(exclude) => onChange({ exclude })}
    />
    <fieldset className="stack">
      <legend>Only secrets with this custom metadata</legend>
      <PairFields
        isPlain
        pairs={values.metadata}
        onChange={(pairs) => onChange({ metadata: pairs.map(({ key, value }) => ({ key, value })) })}
      />
      {problem('metadata_match') && <span className="field-error">{problem('metadata_match')}</span>}
      {values.metadata.length > 0 && (
        <p className="notice">
          Whoever may write the metadata of a secret within the path can publish it in this destination.
        </p>
      )}
    </fieldset>
    {mayNameOwner ? (
      <TextField
        label="Owner"
        help="The ID of an entity whose rights count. Empty: you."
        value={values.owner}
        error={problem('owner')}
        onChange={(entity) => onChange({ owner: entity })}
      />
    ) : (
      <p className="soft">
        {owner && owner.type !== 'unknown' && 'Saving makes you its owner. '}
        It associates only what you may read, and associate, at that time.
      </p>
    )}
  </>
);

interface MountInputProps {
  value: string;
  error: string | undefined;
  onChange(mount: string): void;
}

/** A choice of the mounts that the token may see; if there are none, their path is typed. */
function MountInput({ value, error, onChange }: MountInputProps) {
  const { data: mounts = [], isPending } = useMounts();
  const paths = mounts.map(({ path }) => path);
  const shown = { label: 'Mount', error, value, onChange };
  if (!isPending && paths.length === 0)
    return <TextField {...shown} help="Path of the key-value store, such as secret." isRequired />;
  const known = value === '' || paths.includes(value) ? paths : [value, ...paths];
  const choices = known.map((path) => ({ value: path, label: path }));
  return <SelectField {...shown} choices={[{ value: '', label: 'Choose a mount' }, ...choices]} />;
}
