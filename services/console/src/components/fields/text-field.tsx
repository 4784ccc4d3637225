import type { ReactNode } from 'react';
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
} from 'react-aria-components';
import './field.css';

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  label: string;
  /** What the field means, and what it accepts; read with the field by screen readers. */
  help?: ReactNode;
  /** Why the value is refused; shown instead of the browser's own message. */
  error?: string | undefined;
  /** More than one line, and how many are shown. Default: one line. */
  rows?: number;
  placeholder?: string;
}

/** A labelled field with help. `type="password"` for secrets: nothing that is typed is shown. */
export function TextField({ label, help, error, rows = 1, placeholder = '', ...rest }: TextFieldProps) {
  return (
    <AriaTextField
      {...rest}
      className="field"
      isInvalid={error !== undefined}
      // The browser would refuse to submit a form with a field that is invalid, although it was changed since.
      validationBehavior={error === undefined ? 'native' : 'aria'}
    >
      <Label>
        {label}
        {rest.isRequired && <span className="field-required"> (required)</span>}
      </Label>
      {rows > 1 ? (
        <TextArea className="input" rows={rows} placeholder={placeholder} spellCheck={false} />
      ) : (
        <Input className="input" placeholder={placeholder} spellCheck={false} />
      )}
      {help && (
        <Text slot="description" className="field-help">
          {help}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  );
}
