# shellcheck shell=bash
# Kubernetes quantities as thousandths of a core or byte, so that bash can compare and subtract them.

declare -A THOUSANDTHS=([m]=1 [one]=1000 [k]=1000000 [M]=1000000000 [G]=1000000000000 [T]=1000000000000000
  [Ki]=1024000 [Mi]=1048576000 [Gi]=1073741824000 [Ti]=1099511627776000)

# Prints nothing and fails for what is no quantity, or more than bash can count.
thousandths() { # <quantity>
  local whole fraction factor result
  [[ $1 =~ ^([0-9]{1,15})(\.([0-9]{1,3}))?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$ ]] || return 1
  whole=$((10#${BASH_REMATCH[1]})) fraction=${BASH_REMATCH[3]}000
  factor=${THOUSANDTHS[${BASH_REMATCH[4]:-one}]}
  ((whole <= 9000000000000000000 / factor)) || return 1
  result=$((whole * factor + 10#${fraction:0:3} * factor / 1000))
  printf '%s' "$result"
}
