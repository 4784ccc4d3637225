import { CheckboxField } from '../../../components/fields/checkbox-field.tsx';
import { ChoicesField } from '../../../components/fields/choices-field.tsx';
import { SelectField } from '../../../components/fields/select-field.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import type { FormField } from './destination-types.ts';
import { type FormValues, mask } from './form-values.ts';

interface FieldInputProps {
  field: FormField;
  value: FormValues[string];
  error: string | undefined;
  /** The destination exists, so some fields cannot be changed. */
  exists: boolean;
  onChange(value: FormValues[string]): void;
}

/** The input of a field, by its kind. */
export function FieldInput({ field, value, error, exists, onChange }: FieldInputProps) {
  const { name, kind, choices } = field;
  const isDisabled = exists && field.isImmutable;
  const shown = { label: name, help: helpOf(field, exists), error, isDisabled };
  if (kind === 'flag') return <CheckboxField {...shown} isSelected={value === true} onChange={onChange} />;
  if (kind === 'choices')
    return <ChoicesField {...shown} choices={choices} value={value as string[]} onChange={onChange} />;
  if (kind === 'choice')
    return <SelectField {...shown} choices={options(field)} value={String(value)} onChange={onChange} />;
  if (kind === 'secret')
    return (
      <TextField
        {...shown}
        type="password"
        autoComplete="off"
        isRequired={field.isRequired}
        value={String(value)}
        onChange={(typed) => onChange(withoutMask(String(value), typed))}
      />
    );
  return (
    <TextField
      {...shown}
      rows={kind === 'list' || kind === 'map' ? 2 : 1}
      isRequired={field.isRequired}
      value={String(value)}
      onChange={onChange}
    />
  );
}

/** An empty choice, where the default is none of them. */
const options = ({ choices, initial }: FormField) => [
  ...(choices.includes(String(initial)) ? [] : [{ value: '', label: '(default)' }]),
  ...choices.map((choice) => ({ value: choice, label: choice })),
];

/**
 * Removes the asterisks of a stored secret when the user types next to them, so that the new text replaces the secret.
 */
const withoutMask = (before: string, typed: string): string =>
  before === mask && typed.length > mask.length ? typed.replace(mask, '') : typed;

function helpOf({ help, kind, isImmutable, isPushed }: FormField, exists: boolean): string {
  const sentences = [
    help,
    kind === 'list' && 'One on each line.',
    kind === 'map' && 'One on each line, such as team = shop.',
    kind === 'secret' &&
      exists &&
      'What is stored is never shown. Leave ***** to keep it; an empty field removes it.',
    isImmutable && (exists ? 'It cannot be changed.' : 'It cannot be changed later.'),
    exists && isPushed && 'A change reaches every external secret, in the background.',
  ];
  return sentences.filter(Boolean).join(' ');
}
