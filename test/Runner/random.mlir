// Random arguments: reproducible, in range, different for each argument and seed.
// RUN: rm -rf %t && mkdir %t && cd %t
// DEFINE: %{run} = la-run %s --pipeline='%{upstream}' --shape 0=1000 --shape 1=1000 --range 2=-3:3 --range 3=0:1
// RUN: %{run} --random 1 --out a
// RUN: %{run} --random 1 --out b --range 1=5:6
// RUN: %{run} --random 2 --out c --fill 1=-inf
// RUN: %python %S/Inputs/check_random.py
func.func @f(%x: tensor<?xf32>, %y: tensor<?xbf16>, %i: tensor<1000xi8>, %p: tensor<1000xi1>)
    -> (tensor<?xf32>, tensor<?xbf16>, tensor<1000xi8>, tensor<1000xi1>) {
  return %x, %y, %i, %p : tensor<?xf32>, tensor<?xbf16>, tensor<1000xi8>, tensor<1000xi1>
}
