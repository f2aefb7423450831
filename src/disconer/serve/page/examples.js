// One text per shape of entity, as in clinical notes and eligibility criteria.

export const EXAMPLES = [
  ["Discontinuous", "History of severe renal or hepatic impairment."],
  ["Overlapped", "Stroke within six months before surgery, or fever after taking the statin."],
  ["Coordination", "Planned hip or knee replacement surgery; left or right ventricular hypertrophy."],
  ["Regular", "Known allergy to aspirin or penicillin in patients with type 2 diabetes."],
  ["From the paper", "The mitral valve leaflets are mildly thickened."],
  [
    "Criteria",
    `Inclusion Criteria
- Women aged 40 years or older with a history of gestational diabetes
- Serum creatinine above 1.5 mg/dL, or known renal, hepatic or cardiac failure
- Stable dose of metformin or insulin for at least three months before screening

Exclusion Criteria
- Pregnant or breast feeding women
- Myocardial infarction, unstable angina or stroke within the last 6 months
- Allergy to iodine or to local or general anesthetics`,
  ],
];

export function showExamples(place, onChoice) {
  place.replaceChildren(
    ...EXAMPLES.map(([name, text]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => onChoice(text));
      button.dataset.text = text;
      return button;
    }),
  );
}

// Marks the current example, if the text is one.
export function markExample(place, text) {
  for (const button of place.children) button.setAttribute("aria-pressed", String(button.dataset.text === text));
}
