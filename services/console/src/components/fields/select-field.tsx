import { useId } from 'react';
import './field.css';

interface SelectFieldProps {
  label: string;
  help?: string;
  error?: string | undefined;
  value: string;
  choices: readonly { value: string; label: string }[];
  isDisabled?: boolean;
  onChange(value: string): void;
}

/** A choice of one, with help. The browser's own control, because it works on every device. */
export function SelectField({ label, help, error, value, choices, isDisabled, onChange }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        value={value}
        disabled={isDisabled}
        aria-describedby={`${id}-help`}
        aria-invalid={error !== undefined}
        onChange={(event) => onChange(event.target.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <span id={`${id}-help`}>
        {help && <span className="field-help">{help}</span>}
        {error && <span className="field-error">{error}</span>}
      </span>
    </div>
  );
}
