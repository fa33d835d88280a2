module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %batch, %heads = transform.structured.tile_using_for %op tile_sizes [BATCH, HEADS] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
