import { type FormEvent, useState } from 'react';
import { ApiProblem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useUnsavedInput } from '../../../session/unsaved-input.ts';
import type { FormField } from './destination-types.ts';
import { FieldInput } from './field-input.tsx';
import { changedSettings, type FormValues, initialValues, problemsByField } from './form-values.ts';
import './destination-form.css';

interface DestinationFormProps {
  fields: readonly FormField[];
  /** The settings of the destination, if it exists. */
  stored?: Readonly<Record<string, unknown>>;
  submitLabel: string;
  isPending: boolean;
  isDisabled?: boolean;
  error: unknown;
  /** Receives the settings that were changed. */
  onSubmit(settings: Record<string, unknown>): void;
}

/** A form for the settings of a destination, generated from the description of its type. */
export function DestinationForm(props: DestinationFormProps) {
  const { fields, stored, submitLabel, isPending, isDisabled = false, error, onSubmit } = props;
  const [before] = useState(() => initialValues(fields, stored));
  const [values, setValues] = useState(before);
  useUnsavedInput(Object.keys(changedSettings(fields, before, values)).length > 0);
  const sentences = error instanceof ApiProblem ? error.sentences : [];
  const problems = problemsByField(fields, sentences);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(changedSettings(fields, before, values));
  };
  return (
    <form className="stack destination-form" onSubmit={submit}>
      {groups.map(({ group, ...shown }) => (
        <FieldGroup
          key={group}
          {...shown}
          fields={fields.filter((field) => field.group === group)}
          values={values}
          problems={problems}
          exists={stored !== undefined}
          onChange={(name, value) => setValues({ ...values, [name]: value })}
        />
      ))}
      {error !== undefined && error !== null && (
        <ProblemNotice title="The destination was not saved." error={error} />
      )}
      <div className="row">
        <Button type="submit" kind="primary" isPending={isPending} isDisabled={isDisabled}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

const groups = [
  { group: 'connection', legend: 'Connection', isRare: false },
  { group: 'content', legend: 'External secrets', isRare: false },
  { group: 'identity', legend: 'Identity tokens, instead of stored credentials', isRare: true },
  { group: 'network', legend: 'Network', isRare: true },
] as const;

interface FieldGroupProps {
  legend: string;
  isRare: boolean;
  fields: readonly FormField[];
  values: FormValues;
  problems: Readonly<Record<string, string>>;
  exists: boolean;
  onChange(name: string, value: FormValues[string]): void;
}

/** A group that most destinations do not need is closed, unless something in it is set or refused. */
function FieldGroup({ legend, isRare, fields, values, problems, exists, onChange }: FieldGroupProps) {
  const [isSet] = useState(
    () => JSON.stringify(initialValues(fields)) !== JSON.stringify(pick(fields, values)),
  );
  if (fields.length === 0) return null;
  const isRefused = fields.some(({ name }) => name in problems);
  return (
    <details className="card" open={!isRare || isSet || isRefused}>
      <summary>{legend}</summary>
      <fieldset className="stack">
        <legend className="visually-hidden">{legend}</legend>
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            error={problems[field.name]}
            exists={exists}
            onChange={(value) => onChange(field.name, value)}
          />
        ))}
      </fieldset>
    </details>
  );
}

const pick = (fields: readonly FormField[], values: FormValues): FormValues =>
  Object.fromEntries(fields.map(({ name }) => [name, values[name] ?? '']));
