import { Checkbox, CheckboxGroup, FieldError, Label, Text } from 'react-aria-components';
import './field.css';

interface ChoicesFieldProps {
  label: string;
  help?: string;
  error?: string | undefined;
  value: string[];
  choices: readonly string[];
  isDisabled?: boolean;
  onChange(value: string[]): void;
}

/** A choice of any number, with help. */
export const ChoicesField = ({ label, help, error, choices, ...rest }: ChoicesFieldProps) => (
  <CheckboxGroup {...rest} className="field" isInvalid={error !== undefined} validationBehavior="aria">
    <Label>{label}</Label>
    <div className="row">
      {choices.map((choice) => (
        <Checkbox key={choice} value={choice} className="checkbox">
          <span className="checkbox-box" aria-hidden="true">
            ✓
          </span>
          <span>{choice}</span>
        </Checkbox>
      ))}
    </div>
    {help && (
      <Text slot="description" className="field-help">
        {help}
      </Text>
    )}
    <FieldError className="field-error">{error}</FieldError>
  </CheckboxGroup>
);
