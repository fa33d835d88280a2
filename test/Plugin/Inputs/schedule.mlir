module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    %split = transform.linattn.split_value %op tile 32 : (!transform.any_op) -> !transform.any_op
    %chunk = transform.linattn.chunk %split {chunk = 16} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
